"""The workspace of a computation: input files, an output folder, and a progress callback.

A computation is a plain function `f(workspace, **params) -> JSON value` in this package. It runs in a cell, so
it may be killed at any moment, has no network and no secrets, and its return value must be small JSON: frames,
figures and models are files written to `workspace.output`. Errors that its caller can fix are raised as
`errors.LabError`, which is passed out of the cell with code, detail and facts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


def _silent(fraction: float, text: str) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class CellWorkspace:
    """The workspace of one computation.

    `inputs`: read-only files by name. `output`: an empty folder; every regular file left in it is kept.
    `threads`: the number of cores that the computation may use. `report(fraction, text)`: progress, from 0 to
    1.
    """

    inputs: Mapping[str, Path]
    output: Path
    threads: int = 1
    report: Callable[[float, str], None] = _silent
