"""Ctrl-C inside an import, and between steps that belong together."""

import importlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.terminal.interrupts import hold_interrupts, interrupt_between_imports

INTERRUPTED_IMPORT = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nIS_WHOLE = True\n"
INTERRUPTED_TWICE = INTERRUPTED_IMPORT + "os.kill(os.getpid(), signal.SIGINT)\nIS_LATER = True\n"


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)}
    yield
    for number, handler in former.items():
        signal.signal(number, handler)


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_inside_an_import_comes_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pressed_once.py").write_text(INTERRUPTED_IMPORT)
    monkeypatch.syspath_prepend(tmp_path)
    interrupt_between_imports()
    module = importlib.import_module("pressed_once")
    assert module.IS_WHOLE
    with pytest.raises(KeyboardInterrupt):
        signal.pause()


def test_a_second_interrupt_inside_an_import_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pressed_twice.py").write_text(INTERRUPTED_TWICE)
    monkeypatch.syspath_prepend(tmp_path)
    interrupt_between_imports()
    with pytest.raises(KeyboardInterrupt):
        importlib.import_module("pressed_twice")


def test_an_interrupt_outside_an_import_comes_at_once() -> None:
    interrupt_between_imports()
    with pytest.raises(KeyboardInterrupt):
        press()


def press_while_held(steps: list[str], presses: int, releases: bool) -> None:
    with hold_interrupts() as release:
        for _ in range(presses):
            press()
        steps.append("held")
        if releases:
            release()
        steps.append("after")


@pytest.mark.parametrize(
    ("presses", "releases", "done"),
    [(1, True, ["held"]), (1, False, ["held", "after"]), (2, False, [])],
    ids=["until the release", "until the end", "but not a second one"],
)
def test_an_interrupt_is_held(presses: int, releases: bool, done: list[str]) -> None:
    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        press_while_held(steps, presses, releases)
    assert steps == done


def test_interrupts_come_as_before_when_they_are_not_held_any_more() -> None:
    former = signal.getsignal(signal.SIGINT)
    with hold_interrupts() as release:
        release()
        assert signal.getsignal(signal.SIGINT) is former
    assert signal.getsignal(signal.SIGINT) is former
