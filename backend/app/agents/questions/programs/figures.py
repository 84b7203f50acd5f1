"""Figures of a program as figures of a query plan."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from app.agents.questions.programs.conditions import ConditionReader
from app.agents.questions.programs.program import Condition, ProgramFigure, Test
from app.agents.questions.question_reading import NotUnderstood, Value
from app.agents.questions.rows_plan import Figure as PlanFigure
from app.agents.questions.rows_plan import PlanDraft, numbered_name
from app.plans import build
from app.plans.plan import AggregateFunction

_FUNCTIONS: dict[str, AggregateFunction] = {
    "distinct": "count_distinct",
    "sum": "sum",
    "mean": "mean",
    "median": "median",
    "min": "min",
    "max": "max",
    "std": "stddev",
    "quantile": "quantile",
    "corr": "correlation",
}
_OF_ANYTHING = frozenset({"distinct", "min", "max"})
"""Figures of texts and dates too."""
_ADDED_UP = frozenset({"count", "sum", "distinct"})
"""Figures of which that of some rows is a share of that of all."""
_WINDOWS = ("part", "change", "cumulative")

Window = Literal["part", "change", "cumulative"]


@dataclass(frozen=True)
class GroupFigure:
    """A figure of each group, with the column that holds what is asked for.

    `window`: what of the figure is asked for, among the figures of all groups. `columns`: what is shown of it.
    """

    figure: PlanFigure
    column: str
    window: Window | None = None
    columns: tuple[str, ...] = ()
    before: str = ""
    """The column of the figure of the group before, of a change."""


@dataclass
class FigureReader:
    """Reads figures. Different figures have different names, which begin with those of the groups."""

    conditions: ConditionReader
    keys: Sequence[str] = ()
    by_name: dict[str, PlanFigure | None] = field(default_factory=dict)
    read: dict[ProgramFigure, GroupFigure] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_name |= dict.fromkeys(self.keys)

    def group_figure(self, figure: ProgramFigure) -> GroupFigure:
        """Read a figure of groups; the same figure is the same column, wherever a program names it."""
        if figure not in self.read:
            self.read[figure] = self._group_figure(figure)
        return self.read[figure]

    def _group_figure(self, figure: ProgramFigure) -> GroupFigure:
        if figure.name not in _WINDOWS:
            plain = self.figure(figure)
            return GroupFigure(plain, plain.name, columns=(plain.name,))
        plain = self.figure(figure.parts[0])
        if figure.name == "part":
            column = self.take_name("share", f"share of {plain.name}")
            return GroupFigure(plain, column, "part", (plain.name, column))
        if figure.name == "cumulative":
            column = self.take_name(f"running {plain.name}")
            return GroupFigure(plain, column, "cumulative", (column, plain.name))
        column = self.take_name("change", f"change of {plain.name}")
        relative = self.take_name(f"relative {column}")
        before = self.take_name("before", f"{plain.name} before")
        return GroupFigure(plain, column, "change", (plain.name, column, relative), before)

    def take_name(self, *names: str) -> str:
        """Take the first free name, or the last one with a number."""
        for name in names:
            if name not in self.by_name:
                self.by_name[name] = None
                return name
        free = numbered_name(names[-1], self.by_name)
        self.by_name[free] = None
        return free

    def figure(self, figure: ProgramFigure) -> PlanFigure:
        """Read a figure of the rows of a group."""
        match figure.name:
            case "count":
                return self._with_own_name(self._where(PlanFigure("count", label="rows"), figure.where))
            case "share":
                return self._share(figure)
            case "ratio" | "minus":
                return self._combined(figure)
            case "part" | "change" | "cumulative":
                raise NotUnderstood("A figure among groups is no part of another figure.")
        return self._with_own_name(self._where(self._aggregate(figure), figure.where))

    def _aggregate(self, figure: ProgramFigure) -> PlanFigure:
        terms, term, function = self.conditions.terms, figure.term, _FUNCTIONS[figure.name]
        if term is None:
            raise NotUnderstood(f"It is not told of what the {figure.name} is asked for.")
        value = terms.value(term)
        if value.type == "boolean" and figure.name == "mean":
            return PlanFigure("share_true", value, label=f"share of {value.label}")
        if figure.name not in _OF_ANYTHING:
            value = terms.number(term, figure.name)
        other = terms.number(figure.other, figure.name) if figure.other else None
        return PlanFigure(function, value, share=figure.share, other=other)

    def _share(self, figure: ProgramFigure) -> PlanFigure:
        if figure.where is None:
            raise NotUnderstood("It is not told of which rows the share is asked for.")
        tested = Value(self.conditions.expression(figure.where), "condition met", "boolean")
        share = PlanFigure("share_true", tested, label="share")
        is_second = self.by_name.get("share", share) != share
        # Two shares are told apart by their conditions.
        return self._with_own_name(
            replace(share, label=f"share {self.words(figure.where)}") if is_second else share
        )

    def _where(self, figure: PlanFigure, condition: Condition | None) -> PlanFigure:
        if condition is None:
            return figure
        expression = self.conditions.expression(condition)
        return replace(figure, where=expression, label=f"{figure.name} {self.words(condition)}")

    def words(self, condition: Condition) -> str:
        """Words of the rows that count, behind the name of a figure: `of Oslo`, `where age is above 30`."""
        if isinstance(condition, Test) and condition.sign == "==" and len(condition.values) == 1:
            value, term = condition.values[0], condition.term
            if isinstance(value, bool):
                return f"{'with' if value else 'without'} {term.column}"
            if isinstance(value, str) and term.part is None:
                return f"of {value}"
        return f"where {self.conditions.describe(condition)}"

    def _combined(self, figure: ProgramFigure) -> PlanFigure:
        first, second = (self.figure(part) for part in figure.parts)
        own, other = figure.parts
        label = _RATIO_LABELS if figure.name == "ratio" else _DIFFERENCE_LABELS
        is_same = replace(own, where=None) == replace(other, where=None)
        name = ""
        if is_same and own.where is not None:
            is_whole = other.where is None and own.name in _ADDED_UP
            name = label[1] if is_whole else label[0]
        elif figure.name == "ratio" and first.value is not None and second.value is not None:
            is_total = first.function == second.function == "sum" and not (own.where or other.where)
            name = f"{first.value.label} per {second.value.label}" if is_total else ""
        elif figure.name == "ratio" and second.name == "rows":
            name = f"{first.name} per row"
        elif (own.name, other.name) == ("max", "min") and own.term == other.term and first.value is not None:
            name = f"range of {first.value.label}"
        sign: Literal["/", "-"] = "/" if figure.name == "ratio" else "-"
        combined = PlanFigure("mean", label=name, parts=(first, second), sign=sign)
        return self._with_own_name(replace(combined, label=combined.name))

    def _with_own_name(self, figure: PlanFigure) -> PlanFigure:
        """The figure by its name, with a number behind where something else has that name."""
        if self.by_name.setdefault(figure.name, figure) == figure:
            return figure
        return self._with_own_name(replace(figure, label=numbered_name(figure.name, self.by_name)))


_RATIO_LABELS, _DIFFERENCE_LABELS = ("ratio", "share"), ("difference", "difference")
"""Names of a figure of some rows against that of others, and against that of all."""


def add_window(draft: PlanDraft, entry: GroupFigure, order: str, within: Sequence[str]) -> None:
    """Add what is asked for of a figure among all groups. `order`: the column along which groups follow."""
    figure = entry.figure.name
    if entry.window == "part":
        draft.steps.append(build.window(entry.column, "share", figure))
    elif entry.window == "cumulative":
        ordered = [(order, False)]
        draft.steps.append(build.window(entry.column, "cumulative_sum", figure, within, ordered))
    elif entry.window == "change":
        before = build.column(entry.before)
        draft.steps.append(build.window(entry.before, "lag", figure, within, [(order, False)]))
        change = build.arithmetic("-", build.column(figure), before)
        draft.steps.append(build.derive(entry.column, change))
        relative = build.arithmetic("/", build.column(entry.column), before)
        draft.steps.append(build.derive(entry.columns[-1], relative))
