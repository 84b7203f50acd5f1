"""Construction of a query plan: rows of the joined tables, figures of groups, order and limit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Literal

from app.agents.questions.question_reading import (
    NotUnderstood,
    QuestionReading,
    StatisticBound,
    Value,
    make_value,
)
from app.agents.questions.tables.scope import RowSource, tables_of
from app.plans import build
from app.plans.expressions import Expression, NotExpression
from app.plans.plan import (
    AggregateFunction,
    Aggregation,
    JoinKey,
    JoinStep,
    Plan,
    PlanSource,
    SelectedColumn,
    SelectStep,
    Step,
    WindowFunction,
)


@dataclass(frozen=True)
class Figure:
    """A figure of the rows or of each group. `value`: None for a count of rows.

    A figure with `parts` is made of two others by `sign`: a ratio of totals, a range, a difference of groups.
    """

    function: AggregateFunction
    value: Value | None = None
    where: Expression | None = None
    share: float | None = None
    other: Value | None = None
    label: str = ""
    parts: "tuple[Figure, Figure] | None" = None
    sign: Literal["-", "/", "+"] = "/"

    @property
    def name(self) -> str:
        if self.label:
            return self.label
        if self.parts:
            first, second = (part.name for part in self.parts)
            return f"{first} {_JOINTS[self.sign]} {second}"
        value = self.value.label if self.value else ""
        match self.function:
            case "count":
                return f"{value} present" if value else "rows"
            case "count_distinct":
                return f"distinct {_plural(value)}"
            case "stddev":
                return f"standard deviation of {value}"
            case "quantile":
                return f"{100 * (self.share or 0):g} % quantile of {value}"
            case "correlation":
                return f"correlation of {value} and {self.other.label if self.other else ''}"
            case "slope":
                return f"slope of {value} over {self.other.label if self.other else ''}"
            case "sum":
                return f"total {value}"
            case function:
                return f"{function} {value}"


def _plural(noun: str) -> str:
    """Return `fields` of `field`, and `values of field_id` of a name that is no word."""
    return f"{noun}s" if noun.isalpha() and not noun.endswith("s") else f"values of {noun}"


def numbered_name(label: str, existing: Iterable[str]) -> str:
    """Return a label with the first number behind it by which it differs from all names, without their case."""
    names = {name.casefold() for name in existing}
    return next(name for number in count(2) if (name := f"{label} ({number})").casefold() not in names)


_JOINTS = {"/": "per", "-": "less", "+": "plus"}


def flatten(figures: Sequence[Figure]) -> list[Figure]:
    """The figures that are no others' combination, each once."""
    plain: dict[str, Figure] = {}
    for figure in figures:
        for part in flatten(figure.parts) if figure.parts else [figure]:
            plain.setdefault(part.name, part)
    return list(plain.values())


_REPEATING: frozenset[AggregateFunction] = frozenset(
    {"sum", "mean", "median", "stddev", "variance", "quantile"}
)
"""Figures that change when rows of a joined table are repeated."""


@dataclass
class PlanDraft:
    """Steps of a plan over the rows that a reading is about."""

    source: RowSource
    steps: list[Step] = field(default_factory=list)
    derived: dict[str, str] = field(default_factory=dict)
    scores: list[str] = field(default_factory=list)
    """Columns of standard scores by which rows are kept."""

    def name_of(self, value: Value) -> str:
        """The column that holds a value; an expression is derived first."""
        expression = self.source.resolve(value.expression)
        if value.classes:
            return self._classes_of(value, expression)
        if expression.kind == "column":
            return expression.name
        key = expression.model_dump_json()
        if key not in self.derived:
            label = self._own_column(value) or self.new_name(value.label)
            self.steps.append(build.derive(label, expression))
            self.derived[key] = label
        return self.derived[key]

    def _own_column(self, value: Value) -> str | None:
        """The column that a text replaces because it is the same one, with one spelling of each value."""
        reference = value.reference
        if reference is None or value.type != "text" or value.label != reference.column.name:
            return None
        own = self.source.resolve(reference.expression)
        return own.name if own.kind == "column" else None

    def _classes_of(self, value: Value, expression: Expression) -> str:
        """The column of the numbers of groups of equally many rows, whose bounds are quantiles."""
        key = f"{value.classes} {expression.model_dump_json()}"
        if key in self.derived:
            return self.derived[key]
        number = self.name_of(replace(value, classes=0, label=f"{value.label} value"))
        branches = []
        for part in range(1, value.classes):
            share = part / value.classes
            bound = self.new_name(f"{100 * share:g} % quantile of all {number}")
            self.steps.append(build.window(bound, "quantile", number, share=share))
            branches.append(
                (build.compare("<=", build.column(number), build.column(bound)), build.literal(part))
            )
        # A row without the number lies in no group.
        above = build.is_present(build.column(number))
        label = self.new_name(value.label)
        classes = build.case([*branches, (above, build.literal(value.classes))], None)
        self.steps.append(build.derive(label, classes))
        self.derived[key] = label
        return label

    def new_name(self, label: str) -> str:
        existing = {name.casefold() for name in (*self.source.names.values(), *self.derived.values())}
        return label if label.casefold() not in existing else numbered_name(label, existing)

    def keep(self, condition: Expression) -> None:
        self.steps.append(build.keep(self.source.resolve(condition)))

    def aggregation(self, figure: Figure) -> Aggregation:
        repeated = figure.value.reference if figure.value else None
        if repeated and repeated.table != self.source.base and figure.function in _REPEATING:
            # A joined row is repeated: its total and mean would weigh it by the rows that belong to it.
            raise NotUnderstood(
                f"`{repeated.column.name}` of `{repeated.table}` would count once for each row of"
                f" `{self.source.base}`."
            )
        return build.aggregation(
            figure.name,
            figure.function,
            self.name_of(figure.value) if figure.value else None,
            self.source.resolve(figure.where) if figure.where else None,
            figure.share,
            self.name_of(figure.other) if figure.other else None,
        )

    def group(self, keys: Sequence[Value], figures: Sequence[Figure]) -> list[str]:
        """Group the rows, those without a key left out; returns the names of the keys, with their sort keys."""
        names = [self.name_of(key) for key in keys]
        for key, name in zip(keys, names, strict=True):
            if not (
                key.reference and key.reference.column.missing == 0 and key.reference.table == self.source.base
            ):
                self.steps.append(build.keep(build.is_present(build.column(name))))
        orders = [
            self.name_of(Value(key.order, f"{key.label} number", "integer")) if key.order else name
            for key, name in zip(keys, names, strict=True)
        ]
        aggregations = [self.aggregation(figure) for figure in flatten(figures)]
        self.steps.append(build.group(list(dict.fromkeys([*names, *orders])), aggregations))
        self._combine(figures)
        return orders

    def _combine(self, figures: Sequence[Figure]) -> None:
        for figure in figures:
            if figure.parts:
                self._combine(figure.parts)
                first, second = (build.column(part.name) for part in figure.parts)
                combined = build.arithmetic(figure.sign, first, second)
                self.steps.append(build.derive(figure.name, combined))

    def present(self, figures: Sequence[Figure]) -> None:
        """Leave out rows without a value of the only measured column, so that used rows are counted."""
        if any(figure.parts for figure in figures):
            self._present_parts(figures)
            return
        values = {figure.value.label: figure.value for figure in figures if figure.value}
        needed = [*values.values(), *(figure.other for figure in figures if figure.other)]
        if (len(values) == 1 and all(figure.value for figure in figures)) or any(f.other for f in figures):
            for value in needed:
                if value.reference is None or value.reference.column.missing > 0:
                    self.steps.append(build.keep(build.is_present(build.column(self.name_of(value)))))

    def _present_parts(self, figures: Sequence[Figure]) -> None:
        """Leave out rows that lack one of the values of a ratio, where it is the only figure."""
        values = {part.value.label: part.value for part in flatten(figures) if part.value and not part.where}
        if len(figures) > 1 or any(part.value is None for part in flatten(figures)):
            return
        for value in values.values():
            if value.reference is None or value.reference.column.missing > 0:
                self.steps.append(build.keep(build.is_present(build.column(self.name_of(value)))))

    def select(self, names: Sequence[str], renames: Sequence[str] = ()) -> None:
        labels = [*renames] or [*names]
        self.steps.append(
            SelectStep(
                kind="select",
                columns=[
                    SelectedColumn(name=name, rename=label if label != name else None)
                    for name, label in zip(names, labels, strict=True)
                ],
            )
        )

    def plan(self) -> Plan:
        return Plan(source=self.source.source, steps=[*self.source.steps(), *self.steps])


def _single_table(
    reading: QuestionReading, applied: Sequence[Expression], values: Sequence[Value], keeps_unmatched: bool
) -> str | None:
    """The table of all measures and groups, where conditions are on rows that belong to its rows.

    `average age of members who do yoga`: a member counts once, however often she comes.
    """
    measured = tables_of([*(v.expression for v in values), *(key.expression for key in reading.keys)])
    others = [name for name in tables_of(applied) if name not in measured]
    if len(measured) != 1 or len(others) != 1 or keeps_unmatched or reading.means:
        return None
    if reading.scope.reaches(measured[0], others[0]) or reading.scope.link(others[0], measured[0]) is None:
        return None
    is_number = any(value.type in ("integer", "number") for value in values)
    return measured[0] if is_number else None


def _matched_base(
    reading: QuestionReading, applied: Sequence[Expression], values: Sequence[Value], base: str | None
) -> str | None:
    """The table whose rows are asked for, where conditions are on rows of another one that belong to them.

    `customers who ordered a tent`: customers, each once.
    """
    if base is None or reading.means:
        return None
    used_tables = tables_of([*(v.expression for v in values), *(key.expression for key in reading.keys)])
    others = [name for name in tables_of(applied) if not reading.scope.reaches(base, name)]
    if len(others) != 1 or not all(reading.scope.reaches(base, name) for name in used_tables):
        return None
    return base if reading.scope.link(others[0], base) else None


def _start_matched(reading: QuestionReading, applied: Sequence[Expression], single: str) -> PlanDraft:
    """Begin the plan of the rows of a table to which rows of another one belong that meet the conditions."""
    own = [condition for condition in applied if tables_of([condition]) == [single]]
    others = [condition for condition in applied if condition not in own]
    many = next(name for name in tables_of(others) if name != single)
    link = reading.scope.link(many, single)
    if link is None or any(tables_of([condition]) != [many] for condition in others):
        raise NotUnderstood(f"The rows of `{single}` and `{many}` cannot be joined.")
    inner = PlanDraft(RowSource(reading.scope, many))
    negated = [condition for condition in others if isinstance(condition, NotExpression)]
    is_absence = len(negated) == len(others) == 1
    for condition in others:
        # `customers who never returned anything`: those without any such row
        inner.keep(condition.operand if is_absence and isinstance(condition, NotExpression) else condition)
    keys = [JoinKey(left=link.key, right=link.foreign_key)]
    draft = PlanDraft(RowSource(reading.scope, single))
    draft.steps.append(
        JoinStep(
            kind="join",
            source=PlanSource(kind="plan", plan=inner.plan()),
            on=keys,
            how="anti" if is_absence else "semi",
        )
    )
    for condition in own:
        draft.keep(condition)
    reading.note(f"Each row of `{single}` counts once.")
    return draft


def start_plan(
    reading: QuestionReading,
    values: Sequence[Value] = (),
    base: str | None = None,
    conditions: Sequence[Expression] | None = None,
    keeps_unmatched: bool = False,
) -> PlanDraft:
    """Begin the plan of a reading: its table, the tables joined for what it needs, and its conditions."""
    applied = [c.expression for c in reading.conditions] if conditions is None else [*conditions]
    expressions = [
        *applied,
        *(bound.reference.expression for bound in reading.means),
        *(value.expression for value in values),
        *(key.expression for key in reading.keys),
    ]
    needed = [*dict.fromkeys((*tables_of(expressions), *reading.scope.tables_of_derived(expressions)))]
    preferred = base or next(iter(t for t in reading.main_tables if t), None)
    single = _single_table(reading, applied, values, keeps_unmatched)
    single = single or _matched_base(reading, applied, values, base)
    if single is not None:
        return _start_matched(reading, applied, single)
    base_table = reading.scope.choose_base(needed, preferred) if needed or preferred else None
    if base_table is None and not needed:
        base_table = preferred or reading.scope.tables[0].name
        if preferred is None and len(reading.scope.tables) > 1:
            names = ", ".join(f"`{table.name}`" for table in reading.scope.tables)
            raise NotUnderstood(f"It does not say which table is meant: {names}.")
    if base_table is None:
        raise NotUnderstood(f"The rows of {' and '.join(f'`{name}`' for name in needed)} cannot be joined.")
    source = RowSource(reading.scope, base_table, keeps_unmatched)
    source.add(needed)
    draft = PlanDraft(source)
    for condition in applied:
        draft.keep(condition)
    for bound in reading.means:
        draft.keep(compare_with_statistic(draft, bound))
    return draft


def compare_with_statistic(draft: PlanDraft, bound: StatisticBound) -> Expression:
    """The comparison of each row with a statistic of all rows that are left so far, which is added to them."""
    measure = draft.name_of(make_value(bound.reference))
    own = build.column(measure)
    statistic: WindowFunction = (
        "mean" if bound.share is None else "median" if bound.share == MEDIAN else "quantile"
    )
    share = bound.share if statistic == "quantile" else None
    word = f"{100 * bound.share:g} % quantile" if bound.share is not None and share is not None else statistic
    label = draft.new_name(f"{word} of all {measure}")
    draft.steps.append(build.window(label, statistic, measure, share=share))
    if bound.deviations is None:
        limit = build.column(label)
        if bound.factor != 1:
            limit = build.arithmetic("*", build.literal(bound.factor), limit)
        return build.compare(bound.sign, own, limit)
    spread = draft.new_name(f"standard deviation of all {measure}")
    draft.steps.append(build.window(spread, "stddev", measure))
    distance = draft.new_name(f"{measure} less its mean")
    draft.steps.append(build.derive(distance, build.arithmetic("-", own, build.column(label))))
    score = draft.new_name(f"z-score of {measure}")
    z_score = build.arithmetic("/", build.column(distance), build.column(spread))
    draft.steps.append(build.derive(score, z_score))
    draft.scores.append(score)
    standardised = build.column(score)
    # A whole number is said without a point.
    deviations = int(bound.deviations) if bound.deviations == int(bound.deviations) else bound.deviations
    if bound.is_either_way:
        return build.compare(">", build.call("abs", standardised), build.literal(deviations))
    side = deviations if bound.sign == ">" else -deviations
    return build.compare(bound.sign, standardised, build.literal(side))


MEDIAN = 0.5
"""Share of the rows below the median."""
