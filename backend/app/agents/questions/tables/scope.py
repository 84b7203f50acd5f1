"""The tables of a question, how their rows belong together, and the rows that a plan starts from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import IDENTIFIER_WORDS
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.tables.derived_columns import DerivedColumns
from app.plans import build
from app.plans.expressions import ColumnType, Expression
from app.plans.plan import DatasetSource, JoinKey, JoinStep, Step
from app.plans.schema import TableSchema

_SEPARATOR = "\x1f"
"""Between table and column of a reference; no name of a table has it."""
_EXPRESSION: TypeAdapter[Any] = TypeAdapter(Expression)
_CODE_WORDS = IDENTIFIER_WORDS | {"code"}


@dataclass(frozen=True)
class Reference:
    """A column of a table of the question."""

    table: str
    column: Column

    @property
    def name(self) -> str:
        return f"{self.table}{_SEPARATOR}{self.column.name}"

    @property
    def expression(self) -> Expression:
        return build.column(self.name)


@dataclass(frozen=True)
class TableLink:
    """Rows of `many` belong to the row of `single` whose `key` equals their `foreign_key`."""

    many: str
    foreign_key: str
    single: str
    key: str
    strength: float


@dataclass(frozen=True)
class QuestionScope:
    """The tables and their links. `text_words`: words of the question, which choose among several links."""

    tables: tuple[TableProfile, ...]
    text_words: frozenset[str] = frozenset()
    derived: DerivedColumns = field(default_factory=dict)
    """Expressions of the columns that the tables have by implication only."""

    def table(self, name: str) -> TableProfile:
        return next(table for table in self.tables if table.name == name)

    @cached_property
    def schemas(self) -> dict[str, TableSchema]:
        return {
            table.name: {c.name: stored_type(c) for c in self.stored_columns(table.name)}
            for table in self.tables
        }

    def stored_columns(self, name: str) -> list[Column]:
        """The columns that a table really has."""
        return [column for column in self.table(name).columns if (name, column.name) not in self.derived]

    @cached_property
    def links(self) -> list[TableLink]:
        links = [
            link
            for many in self.tables
            for single in self.tables
            if many.name != single.name
            for link in _find_links(many, single)
        ]
        return sorted(links, key=lambda link: (-link.strength - self._mentions(link), link.foreign_key))

    def _mentions(self, link: TableLink) -> float:
        parts = {stem(part) for part in name_parts(link.foreign_key)} | {
            stem(w) for w in words(link.foreign_key)
        }
        hints = _DIRECTIONS["from" if "from" in words(link.foreign_key) else "to"]
        return 0.1 * len(parts & self.text_words) + 0.2 * len(hints & self.text_words)

    def link(self, many: str, single: str) -> TableLink | None:
        return next((link for link in self.links if (link.many, link.single) == (many, single)), None)

    def reaches(self, base: str, table: str) -> bool:
        return self._path(base, table) is not None

    def _path(self, base: str, table: str) -> list[TableLink] | None:
        """Links that lead from the rows of a table to one row each of another."""
        if base == table:
            return []
        if direct := self.link(base, table):
            return [direct]
        # One table between them at most: longer ways join what nobody meant.
        for link in self.links:
            if link.many == base and (second := self.link(link.single, table)):
                return [link, second]
        return None

    def tables_of_derived(self, expressions: Sequence[Expression]) -> list[str]:
        """Tables whose columns the derived columns in some expressions are made of."""
        text = " ".join(expression.model_dump_json() for expression in expressions)
        inner = [
            expression
            for (table, name), expression in self.derived.items()
            if build.column(f"{table}{_SEPARATOR}{name}").model_dump_json() in text
        ]
        return tables_of(inner)

    def choose_base(self, tables: Iterable[str], preferred: str | None = None) -> str | None:
        """The table whose rows have all of these tables' values; the preferred one if it does."""
        needed = list(dict.fromkeys(tables))
        candidates = [preferred] if preferred else []
        candidates += [*needed, *(table.name for table in self.tables)]
        for name in candidates:
            if all(self.reaches(name, table) for table in needed):
                return name
        return None


_DIRECTIONS = {
    "from": frozenset(
        {"start", "began", "begin", "departur", "depart", "leav", "left", "from", "origin", "where"}
    ),
    "to": frozenset({"end", "arriv", "to", "finish", "went", "go", "destin", "return"}),
}


def stored_type(column: Column) -> ColumnType:
    """The type that a column has in SQL."""
    if column.is_stored_as_text:
        return "text"
    return column.type if column.type in ("integer", "number", "boolean", "datetime") else "text"  # type: ignore[return-value]


def _find_links(many: TableProfile, single: TableProfile) -> Iterable[TableLink]:
    for key in single.columns:
        # Measurements and times are equal by chance, and link no rows.
        if not key.unique or key.hint == "datetime" or key.type == "number":
            continue
        for foreign in many.columns:
            strength = _link_strength(foreign, key, single)
            if strength > 0:
                yield TableLink(many.name, foreign.name, single.name, key.name, strength)


def _link_strength(foreign: Column, key: Column, single: TableProfile) -> float:
    if foreign.is_number != key.is_number or stored_type(foreign) != stored_type(key):
        return 0.0
    if foreign.values and key.values:
        own, others = {str(v) for v in foreign.values}, {str(v) for v in key.values}
        # Columns of one name whose values differ are no key of each other, such as `name` in two tables.
        if len(own & others) < 0.5 * len(own):
            return 0.0
    if foreign.name.casefold() == key.name.casefold():
        return 3.0
    own_parts = [stem(part) for part in name_parts(foreign.name) if part not in _CODE_WORDS]
    key_parts = [stem(part) for part in name_parts(key.name) if part not in _CODE_WORDS]
    is_identifier = bool(set(words(key.name)) & _CODE_WORDS)
    table_stem = stem(words(single.name)[-1])
    if own_parts and own_parts == key_parts:
        return 2.0
    if own_parts and is_identifier and (own_parts[-1:] == key_parts[-1:] or own_parts[-1] == table_stem):
        return 1.5
    return 0.0


@dataclass
class RowSource:
    """The rows that a plan starts from: a base table, and the tables joined to it, as they are needed."""

    scope: QuestionScope
    base: str
    keeps_unmatched: bool = False
    joined: list[TableLink] = field(default_factory=list)

    def add(self, tables: Iterable[str]) -> None:
        for table in tables:
            for link in self.scope._path(self.base, table) or ():
                if link not in self.joined:
                    self.joined.append(link)

    @property
    def source(self) -> DatasetSource:
        return DatasetSource(kind="dataset", table=self.base)

    def steps(self) -> list[Step]:
        names = self.names
        return [
            JoinStep(
                kind="join",
                source=DatasetSource(kind="dataset", table=link.single),
                on=[JoinKey(left=names[f"{link.many}{_SEPARATOR}{link.foreign_key}"], right=link.key)],
                how="left" if self.keeps_unmatched else "inner",
                suffix=f" of {link.single}",
            )
            for link in self.joined
        ]

    @property
    def names(self) -> Mapping[str, str]:
        """Names of the joined columns by their references."""
        columns = self.scope.stored_columns(self.base)
        names = {f"{self.base}{_SEPARATOR}{c.name}": c.name for c in columns}
        existing = {c.name.casefold(): c.name for c in columns}
        for link in self.joined:
            foreign = names[f"{link.many}{_SEPARATOR}{link.foreign_key}"]
            for column in self.scope.stored_columns(link.single):
                reference = f"{link.single}{_SEPARATOR}{column.name}"
                # The two sides of a join with one name are one column of its result.
                if column.name.casefold() == link.key.casefold() == foreign.casefold():
                    names[reference] = foreign
                    continue
                label = f"{column.name} of {link.single}" if column.name.casefold() in existing else column.name
                names[reference] = label
                existing[label.casefold()] = label
        return names

    def resolve(self, expression: Expression) -> Expression:
        """The expression with the joined names of its columns."""
        resolved: Expression = _EXPRESSION.validate_python(
            _renamed(expression.model_dump(), self.names, self.scope.derived)
        )
        return resolved


def _renamed(part: Any, names: Mapping[str, str], derived: DerivedColumns, table: str = "") -> Any:
    """Replace references by joined names, and derived columns by their expressions over columns of `table`."""
    if isinstance(part, Mapping):
        if part.get("kind") == "column":
            reference = part["name"] if _SEPARATOR in part["name"] else f"{table}{_SEPARATOR}{part['name']}"
            owner, _, name = reference.partition(_SEPARATOR)
            if (owner, name) in derived:
                return _renamed(derived[owner, name].model_dump(), names, derived, owner)
            return {**part, "name": names.get(reference, part["name"])}
        return {key: _renamed(value, names, derived, table) for key, value in part.items()}
    return (
        [_renamed(value, names, derived, table) for value in part] if isinstance(part, list | tuple) else part
    )


def tables_of(expressions: Sequence[Expression]) -> list[str]:
    """Tables whose columns some expressions read."""
    names: list[str] = []
    for expression in expressions:
        _collect_tables(expression.model_dump(), names)
    return list(dict.fromkeys(names))


def _collect_tables(part: Any, names: list[str]) -> None:
    if isinstance(part, Mapping):
        if part.get("kind") == "column" and _SEPARATOR in part["name"]:
            names.append(part["name"].split(_SEPARATOR)[0])
        for value in part.values():
            _collect_tables(value, names)
    elif isinstance(part, list | tuple):
        for value in part:
            _collect_tables(value, names)
