"""Construction of a query plan: rows of the joined tables, figures of groups, order and limit."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.agents.questions.question_reading import NotUnderstood, QuestionReading, Value, make_value
from app.agents.questions.scope import RowSource, tables_of
from app.plans import build
from app.plans.expressions import Expression
from app.plans.plan import AggregateFunction, Aggregation, Plan, SelectedColumn, SelectStep, Step


@dataclass(frozen=True)
class Figure:
    """A figure of the rows or of each group. `value`: None for a count of rows."""

    function: AggregateFunction
    value: Value | None = None
    where: Expression | None = None
    share: float | None = None
    other: Value | None = None
    label: str = ""

    @property
    def name(self) -> str:
        if self.label:
            return self.label
        value = self.value.label if self.value else ""
        match self.function:
            case "count":
                return f"{value} present" if value else "rows"
            case "count_distinct":
                return f"different {value}"
            case "stddev":
                return f"standard deviation of {value}"
            case "quantile":
                return f"{100 * (self.share or 0):g} % quantile of {value}"
            case "correlation":
                return f"correlation of {value} and {self.other.label if self.other else ''}"
            case "sum":
                return f"total {value}"
            case function:
                return f"{function} {value}"


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

    def name_of(self, value: Value) -> str:
        """The column that holds a value; an expression is derived first."""
        expression = self.source.resolve(value.expression)
        if expression.kind == "column":
            return expression.name
        key = expression.model_dump_json()
        if key not in self.derived:
            label = self.new_name(value.label)
            self.steps.append(build.derive(label, expression))
            self.derived[key] = label
        return self.derived[key]

    def new_name(self, label: str) -> str:
        existing = {name.casefold() for name in (*self.source.names.values(), *self.derived.values())}
        name = label
        while name.casefold() in existing:
            name += " "
            name = f"{label} ({len(existing)})" if name.strip() == label else name
        return name

    def keep(self, condition: Expression) -> None:
        self.steps.append(build.keep(self.source.resolve(condition)))

    def aggregation(self, figure: Figure) -> Aggregation:
        repeated = figure.value.reference if figure.value else None
        if repeated and repeated.table != self.source.base and figure.function in _REPEATING:
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
        aggregations = [self.aggregation(figure) for figure in figures]
        self.steps.append(build.group(list(dict.fromkeys([*names, *orders])), aggregations))
        return orders

    def present(self, figures: Sequence[Figure]) -> None:
        """Leave out rows without a value of the only measured column, so that used rows are counted."""
        values = {figure.value.label: figure.value for figure in figures if figure.value}
        needed = [*values.values(), *(figure.other for figure in figures if figure.other)]
        if (len(values) == 1 and all(figure.value for figure in figures)) or any(f.other for f in figures):
            for value in needed:
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
    needed = tables_of(expressions)
    preferred = base or next(iter(t for t in reading.main_tables if t), None)
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
        measure = draft.name_of(make_value(bound.reference))
        label = draft.new_name(f"mean of all {measure}")
        draft.steps.append(build.window(label, "mean", measure))
        draft.steps.append(build.keep(build.compare(bound.sign, build.column(measure), build.column(label))))
    return draft
