"""The columns and values of each row that a program names, in the tables of a question."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from app.agents.goals.words.vocabulary import SECONDS_BY_UNIT
from app.agents.questions.programs.periods import part_value
from app.agents.questions.programs.program import Program, ProgramFigure, Term
from app.agents.questions.question_reading import NotUnderstood, Value, make_value
from app.agents.questions.tables.derived_columns import has_days_only
from app.agents.questions.tables.scope import QuestionScope, Reference, stored_type
from app.plans import build
from app.plans.expressions import ColumnType, Expression

_ARITHMETIC_WORDS = {"+": "plus", "-": "less", "*": "times", "/": "per"}
_SPAN_UNITS = {"days": "day", "hours": "hour", "minutes": "minute"}
_NUMBERS = ("integer", "number")


def walk_parts(part: object) -> Iterator[Any]:
    """Yield a part of a program and all parts within it."""
    if isinstance(part, tuple):
        for entry in part:
            yield from walk_parts(entry)
    elif is_dataclass(part):
        yield part
        for entry in fields(part):
            yield from walk_parts(getattr(part, entry.name))


def find_references(program: Program, scope: QuestionScope, main_tables: Sequence[str]) -> dict[str, Reference]:
    """Find the column of each name in a program. Raises NotUnderstood for names that no table has."""
    names = dict.fromkeys(part.column for part in walk_parts(program) if isinstance(part, Term))
    owners = {name: _owners(name, scope) for name in names}
    certain = Counter(references[0].table for references in owners.values() if len(references) == 1)
    repeated = _repeated_names(program)

    def preference(reference: Reference) -> tuple[bool, int, bool, int]:
        # Groups of a unique column would have one row each: a shared key groups the rows that refer to it.
        is_group = reference.column.name in repeated and not reference.column.unique
        link_count = sum(link.many == reference.table for link in scope.links)
        return is_group, certain[reference.table], reference.table in main_tables[:1], link_count

    return {name: max(references, key=preference) for name, references in owners.items()}


def _owners(name: str, scope: QuestionScope) -> list[Reference]:
    stored = [Reference(t.name, c) for t in scope.tables for c in scope.stored_columns(t.name)]
    every = [*stored, *(Reference(t.name, c) for t in scope.tables for c in t.columns)]
    for pool in (stored, every):
        if exact := [reference for reference in pool if reference.column.name == name]:
            return exact
    folded = [reference for reference in every if reference.column.name.casefold() == name.casefold()]
    if not folded:
        raise NotUnderstood(f"No table has a column `{name}`.")
    return folded


def _repeated_names(program: Program) -> set[str]:
    """Names of columns that make groups or are counted."""
    figures = [part for part in walk_parts(program) if isinstance(part, ProgramFigure)]
    terms = [figure.term for figure in figures if figure.name == "distinct"]
    return {part.column for part in walk_parts((*program.keys, *terms)) if isinstance(part, Term)}


@dataclass(frozen=True)
class TermReader:
    """The values of the terms of a program. `references`: its columns by name."""

    references: Mapping[str, Reference]

    def reference(self, term: Term) -> Reference:
        return self.references[term.column]

    def value(self, term: Term) -> Value:
        """The value of a term, by which rows are grouped and measured."""
        if term.part is not None:
            return part_value(self.reference(term), term.part)
        if term.sign is not None and term.second is not None:
            return self._joined(term, term.second)
        return make_value(self.reference(term))

    def key(self, term: Term) -> Value:
        """The value of a term as a group: of times, the day."""
        value = self.value(term)
        # Times with seconds would make a group of nearly every row.
        is_time = term.part is None and value.type == "datetime"
        return part_value(self.reference(term), "day") if is_time else value

    def listed_value(self, term: Term) -> Value:
        """The value of a term as a list shows it: of a column, as it is stored."""
        if term.part is not None or term.sign is not None:
            return self.value(term)
        reference = self.reference(term)
        return Value(reference.expression, reference.column.name, stored_type(reference.column), reference)

    def number(self, term: Term, purpose: str) -> Value:
        """The value of a term, which has to be a number."""
        value = self.value(term)
        if value.type not in _NUMBERS:
            raise NotUnderstood(f"`{value.label}` holds {value.type}, and there is no {purpose} of that.")
        return value

    def _joined(self, term: Term, second: Term) -> Value:
        if term.sign in _SPAN_UNITS:
            return self._span(term, second, str(term.sign))
        own, other = self.value(Term(term.column)), self.value(second)
        if term.sign == "-" and own.type == other.type == "datetime":
            return self._span(second, term, "days")
        own, other = self.number(Term(term.column), "arithmetic"), self.number(second, "arithmetic")
        sign: Any = term.sign
        label = f"({other.label})" if second.sign else other.label
        is_whole = sign != "/" and own.type == other.type == "integer"
        type_: ColumnType = "integer" if is_whole else "number"
        expression = build.arithmetic(sign, own.expression, other.expression)
        return Value(expression, f"{own.label} {_ARITHMETIC_WORDS[sign]} {label}", type_)

    def _span(self, first: Term, second: Term, units: str) -> Value:
        """The time between two dates in `units`."""
        start, end = (self.reference(term) for term in (first, second))
        for reference in (start, end):
            if stored_type(reference.column) != "datetime":
                raise NotUnderstood(f"`{reference.column.name}` holds no dates.")
        label = f"{units} from {start.column.name} to {end.column.name}"
        # Of a date without a time of day only whole days are known.
        if units == "days" and (has_days_only(start.column) or has_days_only(end.column)):
            return Value(build.call("days_between", start.expression, end.expression), label, "integer")
        elapsed: Expression = build.call("seconds_between", start.expression, end.expression)
        unit = build.literal(float(SECONDS_BY_UNIT[_SPAN_UNITS[units]]))
        return Value(build.arithmetic("/", elapsed, unit), label, "number")
