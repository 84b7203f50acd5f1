"""Run a program that an agent or a user wrote, inside its cell, and collect its results.

The program finds each input `name.parquet` as a DataFrame `name`, and every input as a file of its name. It may
set `result` (any value), put frames to keep into `keep["name"]`, draw figures and write files beside itself.
"""

import traceback
from collections.abc import Mapping
from pathlib import Path
from types import CodeType

import matplotlib.pyplot as plt
import pandas as pd

from app.json_types import JsonValue
from app.sandbox import answer_conversion
from app.sandbox.limits import exhausted_limit
from app.sandbox.policy.language import FILENAME, compile_code
from app.sandbox.policy.namespace import program_namespace

FIGURE_SUFFIXES = (".png", ".svg", ".pdf", ".jpg", ".jpeg")


class ProgramRaised(Exception):
    """An exception of the program. `kind`: its type; the text names the line."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def run(source: str, inputs: Mapping[str, Path], output: Path) -> JsonValue:
    """Run the program. Returns {"result", "frames": {name: {"file", "rows", "columns"}}, "figures": [file]}.

    Raises ProgramRaised for an exception of the program.
    """
    code = compile_code(source)
    keep: dict[str, object] = {}
    variables = {**program_namespace(), **_frames(inputs), "keep": keep}
    _execute(code, variables)
    return {
        "result": answer_conversion.to_json(variables.get("result")),
        "frames": {name: _keep_frame(name, frame, output) for name, frame in list(keep.items())},
        "figures": _keep_figures(output),
    }


def _frames(inputs: Mapping[str, Path]) -> dict[str, object]:
    names = {Path(name).stem: path for name, path in inputs.items() if name.endswith(".parquet")}
    return {name: pd.read_parquet(path) for name, path in names.items() if name.isidentifier()}


def _execute(code: CodeType, variables: dict[str, object]) -> None:
    try:
        exec(code, variables)  # noqa: S102 (the purpose of this module, behind policy and isolation)
    except BaseException as error:
        if exhausted_limit(error):
            raise
        raise ProgramRaised(type(error).__name__, f"{_locate(error)}{type(error).__name__}: {error}") from None


def _locate(error: BaseException) -> str:
    """Return the innermost line of the program in the traceback, as a prefix of a message."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILENAME]
    return f"Line {lines[-1]}: " if lines else ""


def _keep_frame(name: str, frame: object, output: Path) -> JsonValue:
    if not isinstance(frame, pd.DataFrame) or not str(name).isidentifier():
        raise ProgramRaised("TypeError", f'keep["{name}"] must be a DataFrame under a plain name.')
    file = f"{name}.parquet"
    if (output / file).is_symlink():  # the input of that name, which is not replaced
        file = f"{name}-kept.parquet"
    frame.to_parquet(output / file)
    return {"file": file, "rows": len(frame), "columns": [str(column) for column in frame.columns]}


def _keep_figures(output: Path) -> JsonValue:
    """Save the figures that are open, unless the program saved its own."""
    saved = sorted(path.name for path in output.iterdir() if path.suffix in FIGURE_SUFFIXES)
    if saved:
        return list(saved)
    names = []
    for number in plt.get_fignums():
        name = f"figure-{number}.png"
        plt.figure(number).savefig(output / name, bbox_inches="tight")
        names.append(name)
    return list(names)
