"""The variables of a conversation in a program's cell: loaded before the program, saved after it."""

import random
import reprlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from app.computations.program_state.saving import SavedGroups, save_groups
from app.computations.program_state.state_file import load_values, read_groups, write_state
from app.json_types import JsonValue
from app.sandbox.exchange.program_variables import MAX_VARIABLES, PART, STATE_FILE, ProgramVariables
from app.sandbox.policy.audit_hook import allow_answer_file, as_program
from app.sandbox.programs.answer_conversion import to_table
from app.sandbox.programs.definitions import (
    describe_definition,
    find_definitions,
    is_definition,
)

RESET_NAMES = frozenset(("keep", "result", "result_df", "result_rows", "result_columns"))
"""Names by which a program answers: each execution begins without them, or it would answer anew what it did."""
MAX_NAME_CHARACTERS = 200
"""Characters of a name of a variable; longer ones are generated, and fill lists."""
MAX_TEXT_CHARACTERS = 200
"""Characters of the text that stands for a value in lists: a line or two."""


class ProgramMemory:
    """Variables before and after one program. `inputs`: files of the cell by name."""

    def __init__(self, request: ProgramVariables, inputs: Mapping[str, Path], output: Path) -> None:
        self._request = request
        self._inputs = inputs
        self._output = output
        self._initial: dict[str, object] = {}
        self._copies: dict[str, pd.DataFrame] = {}
        self._definitions: dict[str, str] = {}

    def load(self) -> dict[str, Any]:
        """Seed the generators and return the values of the variables that the program can reach."""
        # The same program with the same variables draws the same numbers when it is run again.
        random.seed(self._request.seed)
        np.random.seed(self._request.seed % 2**32)
        groups = read_groups(self._inputs[STATE_FILE], [*self._request.groups]) if self._request.groups else {}
        values: dict[str, Any] = {}
        for group, data in groups.items():
            values |= load_values(data, self._request.groups[group], self._read_part)
        return values

    def begin(self, variables: Mapping[str, object], loaded: Mapping[str, object]) -> None:
        """Note what the program begins with besides its own variables: of these only changes are kept."""
        self._initial = {name: value for name, value in variables.items() if name not in loaded}
        self._copies = {
            name: value.copy(deep=False)  # pandas copies a column when it is changed
            for name, value in self._initial.items()
            if isinstance(value, pd.DataFrame)
        }
        for source in self._request.definitions:
            self._definitions |= find_definitions(source)

    def save(self, variables: Mapping[str, object], source: str) -> JsonValue:
        """Write what is kept. Returns `{"names", "not_kept"}`; each name has its type, text and place."""
        definitions = {**self._definitions, **find_definitions(source)}
        entries: dict[str, JsonValue] = {}
        values: dict[str, object] = {}
        for name, value in variables.items():
            if name.startswith("_") or name in RESET_NAMES or self._is_given(name, value):
                continue
            if name in definitions and is_definition(value):
                kind, text = describe_definition(value, definitions[name])
                entries[name] = {"type": kind, "text": text, "source": definitions[name]}
            else:
                values[name] = value
        room = max(0, MAX_VARIABLES - self._request.other_names - len(entries))
        surplus = {
            name: f"more than {MAX_VARIABLES} variables" if place >= room else "a name that is too long"
            for place, name in enumerate(values)
            if place >= room or len(name) > MAX_NAME_CHARACTERS
        }
        saved = _save_groups({name: value for name, value in values.items() if name not in surplus})
        self._write(saved)
        for name, group in saved.group_of.items():
            entries[name] = {
                "type": type(values[name]).__name__,
                "text": describe_value(values[name]),
                "group": group,
                "parts": [*saved.parts_of[group]],
                **self._describe_frame(name, values[name], saved),
            }
        return {"names": entries, "not_kept": {**saved.not_kept, **surplus}}

    def _is_given(self, name: str, value: object) -> bool:
        """Test for a module or table that the program was given and has not changed."""
        if name not in self._initial:
            return False
        copy = self._copies.get(name)
        if copy is None:
            return self._initial[name] is value
        return isinstance(value, pd.DataFrame) and _is_same(value, copy)

    def _read_part(self, name: str) -> bytes:
        if not PART.fullmatch(name) or name not in self._inputs:
            raise ValueError("a part is missing")
        return self._inputs[name].read_bytes()

    def _write(self, saved: SavedGroups) -> None:
        retained = [group for group in self._request.kept_groups if group not in saved.groups]
        former = read_groups(self._inputs[STATE_FILE], retained) if retained else {}
        files = {**saved.files, STATE_FILE: write_state({**former, **saved.groups})}
        for name, data in files.items():
            if name in self._inputs and name != STATE_FILE:
                continue  # an unchanged part
            self._replace(name, data)

    def _replace(self, name: str, data: bytes) -> None:
        path = self._output / name
        path.unlink(missing_ok=True)  # an input is a link, which must not be followed
        path.write_bytes(data)

    def _describe_frame(self, name: str, value: object, saved: SavedGroups) -> dict[str, JsonValue]:
        """Return the fingerprint of a frame, and the file that SQL reads if it is new or changed."""
        if not isinstance(value, pd.DataFrame):
            return {}
        fingerprint = saved.fingerprints[name]
        if self._request.frames.get(name) == fingerprint:
            return {"frame": fingerprint}
        file = f"{name}-table.parquet"
        path = self._output / file
        path.unlink(missing_ok=True)
        allow_answer_file(path)
        try:
            _write_table(value, path)
        except Exception as error:  # noqa: BLE001 - frames that Parquet takes with their labels only
            return {"frame": fingerprint, "no_table": str(error)[:MAX_TEXT_CHARACTERS]}
        return {"frame": fingerprint, "table": file}


# What handles objects of the program is judged as it is; files of earlier programs are the service's.
_save_groups = as_program(save_groups)


@as_program
def _write_table(frame: pd.DataFrame, path: Path) -> None:
    to_table(frame).to_parquet(path, index=False)


@as_program
def _is_same(frame: pd.DataFrame, before: pd.DataFrame) -> bool:
    same_labels = frame.columns.identical(before.columns) and frame.index.identical(before.index)
    return same_labels and frame.dtypes.equals(before.dtypes) and frame.equals(before)


@as_program
def describe_value(value: object) -> str:
    """Describe a value in a line."""
    if isinstance(value, pd.DataFrame):
        return f"{len(value):,} rows, columns {_SHORT.repr([str(name) for name in value.columns])}"[
            :MAX_TEXT_CHARACTERS
        ]
    if isinstance(value, pd.Series | pd.Index):
        return f"{len(value):,} values of the type {value.dtype}"
    if isinstance(value, np.ndarray):
        return f"shape {value.shape}, {value.dtype}"
    return " ".join(_SHORT.repr(value).split())[:MAX_TEXT_CHARACTERS]


_SHORT = reprlib.Repr()
_SHORT.maxstring, _SHORT.maxother = 120, 160
