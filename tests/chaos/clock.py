"""A wall clock that can be moved from outside, for all Python code of one process.

`time.time`, `datetime.now` and their kin follow; monotonic clocks do not, as with a clock that an operator or a
time server sets. What native libraries ask the kernel themselves is not moved.
"""

import threading
import time
from pathlib import Path

import time_machine

_LOOK_S = 0.1


def set_clock(path: Path, offset_s: float) -> None:
    """Have the process that follows `path` see a wall clock that is off by so much."""
    draft = path.with_suffix(".draft")
    draft.write_text(str(offset_s))
    draft.replace(path)


def follow(path: Path) -> None:
    """Move this process's wall clock as `path` says, from now on; without the file it is right."""
    threading.Thread(target=_follow_for_ever, args=(path,), name="clock", daemon=True).start()


def _follow_for_ever(path: Path) -> None:
    travel: time_machine.travel | None = None
    current = 0.0
    while True:
        offset_s = _read(path)
        if offset_s != current:
            if travel:
                travel.stop()
            travel = time_machine.travel(time.time() + offset_s, tick=True) if offset_s else None
            if travel:
                travel.start()
            current = offset_s
        time.sleep(_LOOK_S)


def _read(path: Path) -> float:
    try:
        return float(path.read_text())
    except FileNotFoundError:
        return 0.0
