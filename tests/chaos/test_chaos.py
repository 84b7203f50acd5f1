"""The plan of a chaos run is fixed by its seed; and its parts do to a process what they say."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.chaos.clock import set_clock
from tests.chaos.injection import HOW, limit_files
from tests.chaos.plan import KINDS, draw_plan
from tests.chaos.recovery_table import quantile
from tests.patience import HANG_GUARD_S


def test_a_seed_fixes_every_fault_and_every_session() -> None:
    assert draw_plan(7, 50, 20, 0.5) == draw_plan(7, 50, 20, 0.5)
    assert draw_plan(7, 50, 20, 0.5) != draw_plan(8, 50, 20, 0.5)


def test_a_large_plan_has_every_kind_of_fault_by_its_share() -> None:
    faults = draw_plan(1, 500, 100, 0.5).faults
    counted = Counter(fault.kind for fault in faults)
    whole = sum(kind.share for kind in KINDS.values())
    assert [fault.n for fault in faults] == list(range(1, 501))
    assert all(abs(counted[name] - 500 * kind.share / whole) < 1 for name, kind in KINDS.items())
    assert set(HOW) == set(KINDS)


def test_no_session_is_to_wait_for_a_fault_that_does_not_come() -> None:
    visits = draw_plan(3, 40, 200, 0.5).visits
    assert all(0 <= visit.begins < visit.until <= 40 for visit in visits)
    assert all(visit.begins <= visit.cancels <= visit.until for visit in visits if visit.cancels is not None)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 3), (0.99, 5), (1.0, 5)])
def test_a_quantile_is_one_of_the_values(share: float, expected: float) -> None:
    assert quantile([1, 2, 3, 4, 5], share) == expected


_TELL_TIME = """
import sys, time
from pathlib import Path
from tests.chaos.clock import follow
follow(Path(sys.argv[1]))
was, steady = time.time(), time.monotonic()
until = steady + float(sys.argv[2])
print("ready", flush=True)
while abs(time.time() - was - (time.monotonic() - steady)) < 3000 and time.monotonic() < until:
    time.sleep(0.02)
print(round((time.time() - was) / 3600), time.monotonic() < until)
"""


def test_a_process_sees_its_wall_clock_jump_and_no_other(tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    command = [sys.executable, "-c", _TELL_TIME, str(clock), str(HANG_GUARD_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        set_clock(clock, -3600)
        assert process.stdout.read() == "-1 True\n"


def test_a_process_whose_files_are_limited_can_write_none(tmp_path: Path) -> None:
    script = "import sys; sys.stdin.readline(); open(sys.argv[1], 'wb', buffering=0).write(b'0')"
    command = [sys.executable, "-c", script, str(tmp_path / "file")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        limit_files([process.pid], 0)
        _, said = process.communicate(b"go\n", timeout=HANG_GUARD_S)
    assert b"File too large" in said
    limit_files([process.pid], None)  # it has ended, and that is no error
