"""Random walks over what programs can reach: `make fuzz` runs them for FUZZ_SECONDS, from FUZZ_SEED."""

import faulthandler
import multiprocessing
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.patience import HANG_GUARD_S

from app.sandbox.policy import allow_lists
from app.sandbox.policy.guards import module_views
from app.sandbox.policy.values import substitutes
from app.sandbox.zygote.preloaded_libraries import load_libraries

from .walk import Coverage, Escape, Walk

FUZZ_SECONDS = float(os.environ.get("FUZZ_SECONDS") or 0)
LIMIT_S = 60.0 if FUZZ_SECONDS else HANG_GUARD_S
"""Seconds after which a walk is given up: with a drawn seed it may call something that never returns."""


STEPS = 3_000
"""Of one walk: each starts again from a process that no earlier one has changed."""
MODULES_OF_A_WALK = 40
"""Drawn from the list: all of them would leave too few steps for each."""


def _draw_modules(seed: int) -> list[str]:
    return random.Random(seed).sample(sorted(allow_lists.MODULES), MODULES_OF_A_WALK)


def _outside(folder: str) -> Path:
    return Path(tempfile.mkdtemp(prefix="outside-", dir=Path(folder).parent))


def _walk(seed: int, folder: str, pipe: Any, prepare: Callable[[], None] | None, modules: list[str]) -> None:
    os.chdir(folder)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    faulthandler.disable()
    try:
        if prepare is not None:
            prepare()
        pipe.send(("reached", Walk(seed, modules, _outside(folder)).run(STEPS).summary()))
    except Escape as escape:
        pipe.send(("escape", str(escape)))
    except BaseException:  # noqa: BLE001 (it is reported)
        pipe.send(("failed", traceback.format_exc()))
    pipe.close()
    os._exit(0)


def walk(
    seed: int, folder: Path, prepare: Callable[[], None] | None = None, modules: list[str] | None = None
) -> tuple[str, Any]:
    """One walk in a process of its own: `("reached", steps)` or `("escape", path)`; a crash reaches nothing."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=_walk, args=(seed, str(folder), theirs, prepare, modules or _draw_modules(seed))
    )
    process.start()
    theirs.close()
    try:
        outcome: tuple[str, Any] = ours.recv() if ours.poll(LIMIT_S) else ("reached", Coverage().summary())
    except EOFError:
        outcome = ("reached", Coverage().summary())  # the library crashed on nonsense: a cell would end here
    process.kill()
    process.join()
    return outcome


@pytest.mark.filterwarnings("ignore")
def test_no_walk_leaves_the_list(tmp_path: Path) -> None:
    # clock: only `make fuzz` walks for a time and from a drawn seed; `make test` takes two walks of fixed seeds
    seed = int(os.environ.get("FUZZ_SEED") or (time.time_ns() % 1_000_000 if FUZZ_SECONDS else 1))
    sys.__stdout__ and print(f"FUZZ_SEED={seed}", file=sys.__stdout__, flush=True)
    if FUZZ_SECONDS:
        load_libraries()  # as the zygote does, so that no walk spends its time on imports
    ends = time.monotonic() + FUZZ_SECONDS  # clock: zero in `make test`
    walks = crashes = 0
    reached = Coverage()
    while walks < 2 or time.monotonic() < ends:  # clock: two walks in `make test`
        kind, value = walk(seed + walks, tmp_path)
        assert kind == "reached", f"FUZZ_SEED={seed + walks}: {kind}: {value}"
        reached.add(value)
        crashes += not value["steps"]
        walks += 1
    assert reached.steps > 100, "the walks got nowhere"
    assert reached.classes
    if FUZZ_SECONDS:
        print(
            f"{walks} walks ({crashes} ended early) reached {reached}; no escape",
            file=sys.__stdout__,
            flush=True,
        )


def _plant_module() -> None:
    allow_lists.MODULES["json"] = allow_lists.MODULES["json"] | {"codecs"}
    module_views.view_of = sys.modules.__getitem__
    module_views._is_view_allowed = lambda module: True


def _plant_class() -> None:
    allow_lists.MODULES["enum"] = allow_lists.MODULES["enum"] | {"EnumMeta"}
    substitutes.refusal = lambda value: None


@pytest.mark.parametrize("plant", [_plant_module, _plant_class])
def test_a_planted_hole_is_found(plant: Callable[[], None], tmp_path: Path) -> None:
    outcomes = (walk(seed, tmp_path, plant, ["json", "enum", "abc", "numpy"]) for seed in range(12))
    assert any(kind == "escape" for kind, _ in outcomes)
