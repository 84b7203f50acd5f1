"""Run a program that an agent or a user wrote, inside its cell, and collect its results.

The program finds each input `name.parquet` as a DataFrame `name`, a single one also as `df`, every input as a
file of its name, and `pd`, `np`, `plt` and `ta` (TA-Lib). Its result is the first of `result_df` (a
DataFrame), `result_rows` (rows as mappings, or as lists with `result_columns`), `result` (any value) and the
value of an expression at the end. It may put frames to keep into `keep["name"]`, draw figures and write files
beside itself.
"""

import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pyarrow

from app.errors import InvalidInput, TooLarge
from app.json_types import JsonValue
from app.sandbox.exchange.answer_limits import MAX_PREVIEW_ROWS
from app.sandbox.exchange.contract import SINGLE_FRAME, Code
from app.sandbox.exchange.program_variables import RESULT_FILE
from app.sandbox.kernel.limits import exhausted_limit
from app.sandbox.policy.audit_hook import allow_answer_file, as_program, refuse_exports
from app.sandbox.policy.language.compiler import LAST_VALUE, compile_code
from app.sandbox.policy.names.private_names import spelled_text
from app.sandbox.policy.namespace import program_globals, program_namespace
from app.sandbox.policy.values.objects import PROGRAM_FILE
from app.sandbox.programs import answer_conversion
from app.sandbox.programs.definitions import run_definitions
from app.sandbox.programs.errors import ProgramRaised
from app.sandbox.programs.memory import ProgramMemory

FIGURE_SUFFIXES = (".png", ".svg", ".pdf", ".jpg", ".jpeg")


_SHORT_NAMES = compile_code(
    "import matplotlib.pyplot as plt\nimport numpy as np\nimport pandas as pd\nimport talib as ta"
)
"""Imports that programs of notebooks omit. They pass the policy as a program's own imports do."""

_REHEARSAL = "import pandas as pd, numpy as np\nresult = int(pd.DataFrame({'a': np.arange(2)})['a'].sum())"


def run(program: Code, inputs: Mapping[str, Path], output: Path) -> JsonValue:
    """Run the program. Returns {"result", "frames": {name: {"file", "rows", "columns"}}, "figures": [file]}.

    With variables of a conversation also `"variables"`, as `ProgramMemory.save` has them. Without exports its
    process, which runs nothing else, refuses files that any program writes.
    Raises ProgramRaised for an exception of the program, InvalidInput for a result that cannot be converted.
    """
    code = compile_code(program.source)
    keep: dict[str, object] = {}
    variables = program_namespace()
    _execute(_SHORT_NAMES, variables)
    variables |= {**_frames(inputs), "keep": keep}
    if not program.exports:
        refuse_exports()
    if program.variables is None:
        _execute(code, variables)
        return _collect(variables, keep, output)
    memory = ProgramMemory(program.variables, inputs, output)
    loaded = memory.load()
    variables |= loaded
    memory.begin(variables, loaded)
    run_definitions(program.variables.definitions, variables, _execute)
    _execute(code, variables)
    return {**_collect(variables, keep, output), "variables": memory.save(variables, program.source)}


def rehearse() -> None:
    """Run what every program runs, so that a process that waits for one has copied its pages by then.

    Without the audit hook, which would stay: the process may be given other work than a program.
    """
    variables = program_globals()
    for code in (_SHORT_NAMES, compile_code(_REHEARSAL)):
        _execute(code, variables)
    answer_conversion.to_json(_find_result(variables))


def _collect(variables: Mapping[str, object], keep: Mapping[str, object], output: Path) -> dict[str, JsonValue]:
    """Collect the answer of a program, its kept frames and its figures."""
    return {
        "result": _convert(_find_result(variables), output),
        "frames": {name: _keep_frame(name, frame, output) for name, frame in list(keep.items())},
        "figures": _keep_figures(output),
    }


def _frames(inputs: Mapping[str, Path]) -> dict[str, object]:
    names = {Path(name).stem: path for name, path in inputs.items() if name.endswith(".parquet")}
    frames: dict[str, object] = {
        name: pd.read_parquet(path) for name, path in names.items() if name.isidentifier()
    }
    return {SINGLE_FRAME: next(iter(frames.values())), **frames} if len(frames) == 1 else frames


@as_program
def _find_result(variables: Mapping[str, object]) -> object:
    """Return the result that a program left. Raises InvalidInput `result_not_convertible` for no table."""
    if (frame := variables.get("result_df")) is not None:
        if not isinstance(frame, pd.DataFrame):
            raise _not_convertible(frame, f"result_df must be a DataFrame, not {type(frame).__name__}.")
        return frame
    rows: Any = variables.get("result_rows")
    columns: Any = variables.get("result_columns")
    if rows is not None:
        try:
            return pd.DataFrame(rows, columns=columns)
        except (TypeError, ValueError, AttributeError, PermissionError) as error:
            detail = f"result_rows, here a {type(rows).__name__}, and result_columns make no table: {error}"
            raise _not_convertible(rows, detail) from None
    return variables.get("result", variables.get(LAST_VALUE))


def _convert(result: object, output: Path) -> JsonValue:
    """Convert a result to JSON, and store it whole. Raises InvalidInput `result_not_convertible`, TooLarge."""
    try:
        if isinstance(result, pd.DataFrame | pd.Series) and len(result) > MAX_PREVIEW_ROWS:
            _store_whole(_to_table(result), output / RESULT_FILE)
        return _to_json(result)
    except TooLarge:
        raise
    except Exception as error:
        if exhausted_limit(error):
            raise
        # Objects of the program raise anything where they are read or made text.
        detail = f"A result of type {type(result).__name__} cannot be converted: {type(error).__name__}"
        raise _not_convertible(result, detail) from None


_to_json = as_program(answer_conversion.to_json)
_to_table = as_program(answer_conversion.to_table)


def _not_convertible(value: object, detail: str) -> InvalidInput:
    return InvalidInput("result_not_convertible", detail, type=type(value).__name__)


def _execute(code: CodeType, variables: dict[str, object]) -> None:
    try:
        exec(code, variables)  # noqa: S102 (the purpose of this module, behind policy and isolation)
    except BaseException as error:
        if exhausted_limit(error):
            raise
        kind = spelled_text(type(error).__name__)
        raise ProgramRaised(kind, f"{_locate(error)}{kind}: {spelled_text(_text_of(error))}") from None


@as_program
def _text_of(error: BaseException) -> str:
    return str(error)


def _locate(error: BaseException) -> str:
    """Return the innermost line of the program in the traceback, as a prefix of a message."""
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == PROGRAM_FILE
    ]
    return f"Line {lines[-1]}: " if lines else ""


def _store_whole(table: pd.DataFrame, path: Path) -> None:
    """Write all rows of a result, unless the program has a file of that name; mixed columns become text.

    A table that Parquet cannot hold is no failure of the program: a line of stderr says that it has no file.
    """
    if path.exists() or path.is_symlink():
        return
    allow_answer_file(path)
    try:
        _write_whole(table, path)
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        path.unlink(missing_ok=True)
        sys.stderr.write(f"The whole result has no file, only its first rows are shown: {error}\n")


@as_program
def _write_whole(table: pd.DataFrame, path: Path) -> None:
    try:
        table.to_parquet(path)
    except (pyarrow.ArrowException, ValueError, TypeError):
        mixed = [name for name in table if table[name].dtype == object]
        texts = {str(name): table[name].map(str, na_action="ignore") for name in mixed}
        table.assign(**texts).to_parquet(path)


@as_program
def _keep_frame(name: str, frame: object, output: Path) -> JsonValue:
    if not isinstance(frame, pd.DataFrame) or not str(name).isidentifier():
        raise ProgramRaised("TypeError", f'keep["{name}"] must be a DataFrame under a plain name.')
    file = f"{name}.parquet"
    if (output / file).is_symlink():  # the input of that name, which is not replaced
        file = f"{name}-kept.parquet"
    allow_answer_file(output / file)
    try:
        frame.to_parquet(output / file)
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        raise _not_convertible(frame, f'keep["{name}"] cannot be stored as Parquet: {error}') from None
    return {"file": file, "rows": len(frame), "columns": [str(column) for column in frame.columns]}


@as_program
def _keep_figures(output: Path) -> JsonValue:
    """Save the figures that are open, unless the program saved its own."""
    saved = sorted(path.name for path in output.iterdir() if path.suffix in FIGURE_SUFFIXES)
    if saved:
        return list(saved)
    names = []
    for number in plt.get_fignums():
        name = f"figure-{number}.png"
        allow_answer_file(output / name)
        plt.figure(number).savefig(output / name, bbox_inches="tight")
        names.append(name)
    return list(names)
