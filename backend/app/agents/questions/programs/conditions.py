"""Conditions of a program as expressions over the columns of the tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from app.agents.questions.conditions.relative_periods import (
    day_of,
    first_day_back,
    is_whole,
    period_before,
    period_of,
)
from app.agents.questions.programs.periods import (
    CALENDAR_UNITS,
    REPEATED_PARTS,
    compare_part,
    is_part_of,
    lies_between_parts,
    part_number,
)
from app.agents.questions.programs.program import AnyOf, Condition, Denial, Sign, Statistic, Term, Test
from app.agents.questions.programs.terms import TermReader, walk_parts
from app.agents.questions.programs.values import as_number, compare_column, equals_one_of
from app.agents.questions.question_reading import NotUnderstood, QuestionReading, Value
from app.agents.questions.rows_plan import PlanDraft
from app.agents.questions.tables.scope import Reference, stored_type
from app.agents.questions.tables.years import holds_years
from app.plans import build
from app.plans.describe import describe_expression
from app.plans.expressions import ContainsExpression, Expression

_WEEKEND = [6, 7]
"""Numbers of Saturday and Sunday."""


def plan_sign(sign: Sign) -> build.ComparisonSign:
    """The sign of a comparison as query plans have it."""
    return "=" if sign == "==" else sign


def uses_statistic(condition: Condition) -> bool:
    """Tell if a condition compares rows with a figure of all rows."""
    return any(isinstance(part, Statistic) for part in walk_parts(condition))


@dataclass(frozen=True)
class ComparedStatistic:
    """A figure of a value of all rows, which a window adds to each row."""

    value: Value
    statistic: Statistic

    @property
    def label(self) -> str:
        share = self.statistic.share
        word = f"{100 * share:g} % quantile" if share is not None else self.statistic.name
        return f"{word} of all {self.value.label}"

    def add_to(self, draft: PlanDraft) -> None:
        """Add the figure of the rows that are left so far."""
        name, share = draft.name_of(self.value), self.statistic.share
        draft.steps.append(build.window(self.label, self.statistic.name, name, share=share))


@dataclass
class ConditionReader:
    """Reads conditions. `counts_from_current`: the program also asks for the period of the latest day.

    `statistics`: the figures of all rows by their label, which the expressions so far compare rows with.
    """

    reading: QuestionReading
    terms: TermReader
    counts_from_current: bool = False
    statistics: dict[str, ComparedStatistic] = field(default_factory=dict)

    def expression(self, condition: Condition) -> Expression:
        """Make the expression of a condition. Raises NotUnderstood where a column cannot meet it."""
        match condition:
            case Denial():
                return build.negate(self.expression(condition.test))
            case AnyOf():
                return build.either([self.expression(test) for test in condition.tests])
        return _TESTS[condition.kind](self, condition)

    def key(self, condition: Condition) -> Value:
        """The value of a condition as a group: true and false."""
        if isinstance(condition, Test) and condition.kind == "in" and condition.term.part == "weekday":
            numbers = [part_number("weekday", value) for value in condition.values]
            if sorted(numbers) == _WEEKEND:
                return Value(self.expression(condition), "weekend", "boolean")
        return Value(self.expression(condition), self.describe(condition), "boolean")

    def describe(self, condition: Condition) -> str:
        """Describe a condition in words, without the names of tables."""
        text = describe_expression(self.expression(condition)).replace("`", "")
        for table in self.reading.scope.tables:
            text = text.replace(f"{table.name}\x1f", "")
        return text

    def compare(self, test: Test) -> Expression:
        sign = plan_sign(test.sign or "==")
        if isinstance(test.other, Statistic):
            return self._compare_with_statistic(test.term, sign, test.other)
        if test.other is not None:
            return self._compare_terms(test.term, sign, test.other)
        [value] = test.values
        if (reference := self._dated(test.term)) is not None and test.term.part is not None:
            return compare_part(reference, test.term.part, sign, value)
        if reference := self._plain(test.term):
            return compare_column(reference, sign, value)
        own = self.terms.value(test.term)
        number = as_number(self.terms.reference(test.term).column, value)
        return build.compare(sign, own.expression, build.literal(number))

    def _compare_with_statistic(
        self, term: Term, sign: build.ComparisonSign, statistic: Statistic
    ) -> Expression:
        compared = ComparedStatistic(self.terms.number(term, statistic.name), statistic)
        self.statistics.setdefault(compared.label, compared)
        return build.compare(sign, compared.value.expression, build.column(compared.label))

    def _compare_terms(self, first: Term, sign: build.ComparisonSign, second: Term) -> Expression:
        own, other = self.terms.listed_value(first), self.terms.listed_value(second)
        kinds = {"number" if value.type == "integer" else value.type for value in (own, other)}
        if len(kinds) > 1:
            raise NotUnderstood(f"`{own.label}` and `{other.label}` are of different kinds.")
        self.reading.note(f"`{own.label}` is compared with `{other.label}` in each row.")
        return build.compare(sign, own.expression, other.expression)

    def is_one_of(self, test: Test) -> Expression:
        if (reference := self._dated(test.term)) is not None and test.term.part is not None:
            return is_part_of(reference, test.term.part, test.values)
        if reference := self._plain(test.term):
            return equals_one_of(reference, test.values)
        numbers = [as_number(self.terms.reference(test.term).column, value) for value in test.values]
        return build.is_one_of(self.terms.value(test.term).expression, numbers)

    def lies_between(self, test: Test) -> Expression:
        low, high = test.values
        if (reference := self._dated(test.term)) is not None and test.term.part is not None:
            return lies_between_parts(reference, test.term.part, low, high)
        bounds = Test("compare", test.term, ">=", (low,)), Test("compare", test.term, "<=", (high,))
        return build.every([self.compare(bound) for bound in bounds])

    def _dated(self, term: Term) -> Reference | None:
        """The date of which a term is a part."""
        reference = self.terms.reference(term)
        is_part = term.part in CALENDAR_UNITS or term.part in REPEATED_PARTS
        return reference if is_part and stored_type(reference.column) == "datetime" else None

    def _plain(self, term: Term) -> Reference | None:
        """The column that a term is, or that stores the part of a date which it is."""
        if term.sign is not None or term.part == "bins":
            return None
        reference = self.terms.reference(term)
        value = self.terms.value(term)
        return reference if term.part is None or value.reference == reference else None

    def contains(self, test: Test) -> Expression:
        text = str(test.values[0])
        return ContainsExpression(kind="contains", operand=self._text(test.term), text=text, ignore_case=True)

    def starts_with(self, test: Test) -> Expression:
        # `starts_with` of DuckDB heeds case.
        lowered = build.call("lower", self._text(test.term))
        return build.call("starts_with", lowered, build.literal(str(test.values[0]).lower()))

    def _text(self, term: Term) -> Expression:
        value = self.terms.listed_value(term)
        return value.expression if value.type == "text" else build.cast_to("text", value.expression)

    def is_missing(self, test: Test) -> Expression:
        return build.is_missing(self.terms.listed_value(test.term).expression)

    def is_present(self, test: Test) -> Expression:
        return build.negate(self.is_missing(test))

    def lies_in_last(self, test: Test) -> Expression:
        """The last periods of a number, counted back from the latest day of the data."""
        reference, count = self.terms.reference(test.term), int(test.values[0])
        column = reference.column
        if test.unit == "year" and holds_years(column):
            self._note_year(column.name, column.high)
            return build.compare(">", reference.expression, build.literal(int(column.high) - count))
        latest = self._latest(reference)
        self.reading.note(f"Times are counted back from {latest.date()}, the latest of `{column.name}`.")
        if test.unit == "hour":
            start = latest - timedelta(hours=count)
            return build.compare(">", reference.expression, build.moment(start.isoformat()))
        first = first_day_back(latest.date(), str(test.unit), count)
        return build.compare(">=", reference.expression, build.moment(first.isoformat()))

    def lies_in_period(self, test: Test) -> Expression:
        """This period of the calendar, or the one before; the latest day of the data counts as today."""
        reference, is_current = self.terms.reference(test.term), test.kind == "this"
        column, unit = reference.column, test.unit
        if unit == "year" and holds_years(column):
            year = int(column.high) - (self.counts_from_current and not is_current)
            self._note_year(column.name, column.high)
            return build.compare("=", reference.expression, build.literal(year))
        if unit is None or unit == "hour":
            raise NotUnderstood(f"It cannot be told which {unit} of `{column.name}` is meant.")
        latest = self._latest(reference).date()
        period = period_of(unit, latest)
        # Beside this month the previous one is the one before; alone it is the latest whole one.
        if not is_current and (self.counts_from_current or not is_whole(period, column, latest)):
            period = period_before(period)
        self.reading.note(
            f"The {'current' if is_current else 'previous'} {unit} is {period.name}, counted from {latest}, the"
            f" latest day of `{column.name}`."
        )
        bounds: Sequence[tuple[build.ComparisonSign, str]] = (
            (">=", period.start.isoformat()),
            ("<", period.end.isoformat()),
        )
        return build.every([build.compare(s, reference.expression, build.moment(day)) for s, day in bounds])

    def _latest(self, reference: Reference) -> datetime:
        column = reference.column
        if stored_type(column) != "datetime" or day_of(column.high) is None:
            raise NotUnderstood(f"The latest day of `{column.name}` is not known.")
        return datetime.fromisoformat(str(column.high))

    def _note_year(self, name: str, latest: int) -> None:
        self.reading.note(f"Years are counted from {latest}, the latest of `{name}`.")


_TESTS: dict[str, Callable[[ConditionReader, Test], Expression]] = {
    "compare": ConditionReader.compare,
    "in": ConditionReader.is_one_of,
    "between": ConditionReader.lies_between,
    "contains": ConditionReader.contains,
    "starts": ConditionReader.starts_with,
    "missing": ConditionReader.is_missing,
    "present": ConditionReader.is_present,
    "last": ConditionReader.lies_in_last,
    "this": ConditionReader.lies_in_period,
    "previous": ConditionReader.lies_in_period,
}
