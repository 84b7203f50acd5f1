"""A suite: a folder with tables and `suite.jsonl`, a goal and what is expected of it a line.

A suite of conversations has `conversations.jsonl` instead.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from app.cli.scoring.conversations import ConversationItem
from app.errors import InvalidInput, NotFound

LIST = "suite.jsonl"
CONVERSATIONS = "conversations.jsonl"
SHIPPED = Path(__file__).parent / "suites"
_PACKAGE = re.compile(r"(?P<package>[A-Za-z_]\w*):(?P<path>.+)")
_MAX_LISTED_ERRORS = 20
"""Invalid lines listed, which fit a terminal; the rest are counted."""

Number = int | float


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Bound(_Strict):
    """A score on the hold-out; an error is bounded from above."""

    name: str
    at_least: Number | None = None
    at_most: Number | None = None

    @model_validator(mode="after")
    def _is_bounded(self) -> "Bound":
        if self.at_least is None and self.at_most is None:
            raise ValueError("says neither at_least nor at_most")
        return self


class Expected(_Strict):
    """Required outcome of a goal. Numbers may differ by `abs`, or by `rel` of themselves.

    `cells`: values by name, of an answer in words or of a single row. `text`: stands in the headline as it is.
    """

    value: str | bool | Number | None = None
    values: list[str | Number] | None = Field(default=None, min_length=1)
    table: dict[str, str | Number] | None = Field(default=None, min_length=1)
    cells: dict[str, str | Number] | None = Field(default=None, min_length=1)
    text: str | None = Field(default=None, min_length=1)
    metric: Bound | None = None
    problem: dict[str, JsonValue] | None = Field(default=None, min_length=1)
    asks: str | None = Field(default=None, min_length=1)
    refuses: str | None = Field(default=None, min_length=1)
    abs: Number = Field(default=0.0, ge=0)
    rel: Number = Field(default=1e-6, ge=0)

    @model_validator(mode="after")
    def _is_something(self) -> "Expected":
        if not self.model_fields_set - {"abs", "rel"}:
            raise ValueError(f"names none of {', '.join(KINDS)}")
        return self


KINDS = ("value", "values", "table", "cells", "text", "metric", "problem", "asks", "refuses")


class Item(_Strict):
    """One goal. `answers`: what to answer to a question, by a part of its text.

    `level`: its difficulty, in scores. `program`: Python that computes the answer; no crew is shown it.
    """

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]{0,79}$")]
    goal: Annotated[str, Field(min_length=3, max_length=10_000)]
    tables: Annotated[list[str], Field(max_length=20)] = []
    preferences: dict[str, JsonValue] = {}
    answers: dict[str, JsonValue] = {}
    level: Literal["easy", "medium", "hard"] | None = None
    program: str | None = Field(default=None, max_length=10_000)
    expect: Expected

    @property
    def kind(self) -> str:
        """The level, or what is expected of an item without one."""
        return self.level or next(kind for kind in KINDS if kind in self.expect.model_fields_set)


SuiteItem = Item | ConversationItem


@dataclass(frozen=True)
class Suite:
    name: str
    items: tuple[SuiteItem, ...]
    files: Mapping[str, Path]
    """Each table as the items name it."""

    def digest(self, item: SuiteItem) -> str:
        """Changes with the item and with the bytes of its tables."""
        sha256 = hashlib.sha256(item.model_dump_json().encode())
        for name in item.tables:
            sha256.update(self.files[name].read_bytes())
        return sha256.hexdigest()[:16]


def read_suite(name: str) -> Suite:
    """A suite by its folder, or a shipped one by its name; raises InvalidInput with each line that is wrong."""
    folder = _folder(name)
    path = _find_list(folder)
    lines = path.read_text(encoding="utf-8").splitlines()
    model: type[SuiteItem] = Item if path.name == LIST else ConversationItem
    items, errors, files = list[SuiteItem](), list[str](), dict[str, Path]()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            item = _item(line, model)
            files |= {name: _table(folder, name) for name in item.tables}
        except _InvalidItem as why:
            # All faults at once, since suites are written by hand.
            errors.append(f"line {number}: {why}")
            continue
        if any(earlier.id == item.id for earlier in items):
            errors.append(f"line {number}: the id {item.id!r} stands twice")
        items.append(item)
    if not items and not errors:
        errors.append("it holds no item")
    if errors:
        more = f"\n... and {len(errors) - _MAX_LISTED_ERRORS} more" if len(errors) > _MAX_LISTED_ERRORS else ""
        raise InvalidInput("bad_suite", f"{path}:\n" + "\n".join(errors[:_MAX_LISTED_ERRORS]) + more)
    return Suite(folder.name, tuple(items), files)


class _InvalidItem(Exception):
    """A line of a suite is invalid; the message gives the reason."""


def _find_list(folder: Path) -> Path:
    """Return the file with the items of a suite; that of goals if there is none."""
    conversations = folder / CONVERSATIONS
    return conversations if conversations.is_file() else folder / LIST


def _folder(name: str) -> Path:
    own = Path(name).expanduser()
    folder = own if _find_list(own).is_file() else SHIPPED / name
    # The pattern keeps `../` out of the folder of shipped suites.
    if (not re.fullmatch(r"[\w-]+", name) and folder is not own) or not _find_list(folder).is_file():
        shipped = ", ".join(sorted(path.name for path in SHIPPED.iterdir() if _find_list(path).is_file()))
        raise NotFound(
            "no_suite", f"There is no {own / LIST}, and no shipped suite is called that. Shipped: {shipped}."
        )
    return folder


def _item(line: str, model: type[SuiteItem]) -> SuiteItem:
    try:
        return model.model_validate(json.loads(line))
    except json.JSONDecodeError as error:
        raise _InvalidItem(f"it is not JSON: {error.msg} at column {error.colno}") from error
    except ValidationError as error:
        raise _InvalidItem(
            "; ".join(map(_error_text, error.errors(include_url=False, include_input=False)))
        ) from error


def _error_text(error: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in error["loc"] if not _is_branch(part))
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{where or 'the item'}: {message}"


def _is_branch(part: Any) -> bool:
    """Pydantic names which member of a union it tried."""
    return part in ("str", "int", "float", "bool")


def _table(folder: Path, name: str) -> Path:
    """A file beside the list, or `package:path` for one inside an installed package; nothing else is opened."""
    packaged = _PACKAGE.fullmatch(name)
    root = _package(packaged["package"]) if packaged else folder
    path = root / (packaged["path"] if packaged else name)
    # A suite from elsewhere must not upload files of this machine; `resolve` also follows links.
    if not path.resolve().is_relative_to(root.resolve()):
        raise _InvalidItem(f"the table {name!r} lies outside of {'the package' if packaged else 'the suite'}")
    if not path.is_file():
        raise _InvalidItem(f"there is no table {name!r}")
    return path


def _package(name: str) -> Path:
    # Found without importing the package, whose code a suite must not run.
    spec = find_spec(name)
    places: Sequence[str] = (spec.submodule_search_locations or ()) if spec else ()
    if not places:
        raise _InvalidItem(f"there is no package {name!r}")
    return Path(places[0])
