"""What a computation is given: files to read, a folder to write, a way to say how far it is.

A computation is a plain function `f(bench, **params) -> JSON value` in this package. It runs in a cell, so it
may be killed at any moment, sees no network and no secret, and what it returns must be small JSON: frames,
figures and models are files that it leaves in `bench.output`. What its caller can mend it raises as
`errors.LabError`, which crosses the cell's wall with code, detail and facts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


def _silent(fraction: float, text: str) -> None:
    """For callers that watch nothing."""


@dataclass(frozen=True)
class Bench:
    """The place where one computation works.

    `inputs`: read-only files by name. `output`: an empty folder; every regular file left in it is kept.
    `threads`: how many cores the computation may use. `report(fraction, text)`: progress, 0 to 1.
    """

    inputs: Mapping[str, Path]
    output: Path
    threads: int = 1
    report: Callable[[float, str], None] = _silent
