"""Changes of a ranking: its direction, the number of its rows, a single place, and the rows beside it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from app.plans import build
from app.plans.conditions import list_columns
from app.plans.editing import PlanParts, split_plan
from app.plans.expressions import CompareExpression, Expression, LiteralExpression
from app.plans.plan import (
    FilterStep,
    LimitStep,
    Plan,
    SelectStep,
    SortKey,
    SortStep,
    Step,
    TopKStep,
    WindowFunction,
    WindowStep,
)

RANK = "rank"
"""Name of the column by which rankings keep their first rows."""
_RANK_FUNCTIONS = ("rank", "row_number", "dense_rank")


class RowRanking(NamedTuple):
    """The order by which a plan keeps `size` rows. `place`: that of its cutting step in the ending."""

    column: str
    descending: bool
    size: int
    place: int
    within: Sequence[str] = ()


def find_ranking(plan: Plan) -> RowRanking | None:
    """Find the last step that keeps the first rows of an order; None for a plan that keeps all."""
    ending = split_plan(plan).ending
    rankings = (_read_ranking(ending, place) for place in reversed(range(len(ending))))
    return next((ranking for ranking in rankings if ranking), None)


def turn_ranking(plan: Plan, descending: bool) -> Plan | None:
    """Keep the rows of the other end where a ranking has the opposite direction; show the first one first."""
    ranking = find_ranking(plan)
    if ranking is None:
        return None
    parts = split_plan(plan)
    return replace(parts, ending=tuple(_turn(step, ranking, descending) for step in parts.ending)).to_plan()


def keep_place(plan: Plan, column: str, descending: bool, place: int, columns: Sequence[str]) -> Plan | None:
    """Keep the rows at one place of an order: the second highest. `columns`: those of the answer."""
    condition = build.compare("=", build.column(RANK), build.literal(place))
    return _rank_rows(plan, (column, descending), condition, columns)


def keep_others(plan: Plan, columns: Sequence[str]) -> Plan | None:
    """Keep the rows that a ranking leaves out. `columns`: those of the answer."""
    ranking = find_ranking(plan)
    if ranking is None:
        return None
    condition = build.compare(">", build.column(RANK), build.literal(ranking.size))
    return _rank_rows(plan, (ranking.column, ranking.descending), condition, columns, "row_number")


def _rank_rows(
    plan: Plan,
    order: tuple[str, bool],
    condition: Expression,
    columns: Sequence[str],
    function: WindowFunction = "dense_rank",
) -> Plan | None:
    """Number the rows of an order and keep those whose number meets a condition, without the former cut."""
    parts, ranking = split_plan(plan), find_ranking(plan)
    if RANK in columns:
        return None
    within = list(ranking.within) if ranking else []
    ties = [key for key in (parts.group.keys if parts.group else ()) if key not in (order[0], *within)]
    keys = [order, *((key, False) for key in ties)] if function == "row_number" else [order]
    window = build.window(RANK, function, within=within, order=keys)
    rest = [step for step in _without_cut(parts, ranking) if not isinstance(step, (SortStep, SelectStep))]
    sort = build.sort(*((key, False) for key in within), order, *((key, False) for key in ties))
    ending = (*rest, window, build.keep(condition), sort, build.select(columns))
    return replace(parts, ending=ending).to_plan()


def _without_cut(parts: PlanParts, ranking: RowRanking | None) -> list[Step]:
    """The ending of a plan without the steps that keep its first rows."""
    if ranking is None:
        return [*parts.ending]
    cut = {ranking.place}
    if isinstance(parts.ending[ranking.place], FilterStep):
        cut.add(ranking.place - 1)
    return [step for place, step in enumerate(parts.ending) if place not in cut]


def _read_ranking(ending: Sequence[Step], place: int) -> RowRanking | None:
    match ending[place]:
        case TopKStep() as step:
            return RowRanking(step.by, step.descending, step.k, place, step.within)
        case LimitStep() as step:
            order = next((s for s in reversed(ending[:place]) if isinstance(s, SortStep)), None)
            return RowRanking(*_read_key(order.keys[0]), step.rows, place) if order else None
        case FilterStep() as step if place:
            window = ending[place - 1]
            count = _read_rank_bound(step)
            if isinstance(window, WindowStep) and count and is_ranking(window):
                figure = window.columns[0]
                return RowRanking(*_read_key(figure.order[0]), count, place, figure.within)
    return None


def describe_rank_bound(bound: str) -> str:
    """Describe the rows that a bound of their rank keeps. `bound`: a number, or a sign and a number."""
    sign, _, number = bound.rpartition(" ")
    if number == "1" and sign in ("", "at most"):
        return "the first only"
    match sign:
        case "at most":
            return f"the first {number} only"
        case "above":
            return f"all but the first {number}"
        case "":
            return f"number {number} only"
    return f"the {bound} only"


def is_ranking(step: WindowStep) -> bool:
    """Test for figures that number rows in an order."""
    return all(figure.function in _RANK_FUNCTIONS and figure.order for figure in step.columns)


def _read_rank_bound(step: FilterStep) -> int | None:
    """The number of rows that a condition on their rank keeps."""
    condition = step.condition
    if not isinstance(condition, CompareExpression) or list_columns(condition, {}) != {RANK}:
        return None
    right = condition.right
    if condition.op not in ("=", "<=") or not isinstance(right, LiteralExpression):
        return None
    return right.value if isinstance(right.value, int) else None


def _read_key(key: SortKey) -> tuple[str, bool]:
    return key.column, key.descending


def _turn(step: Step, ranking: RowRanking, descending: bool) -> Step:
    """Give a step that orders by the column of a ranking a direction; orders of single rows begin with it."""
    match step:
        case TopKStep() if step.by == ranking.column:
            return step.model_copy(update={"descending": descending})
        case WindowStep() if is_ranking(step):
            figures = [
                figure.model_copy(update={"order": _turn_keys(figure.order, ranking, descending)})
                for figure in step.columns
            ]
            return step.model_copy(update={"columns": figures})
        case SortStep():
            return step.model_copy(update={"keys": _lead_keys(step.keys, ranking, descending)})
    return step


def _turn_keys(keys: Sequence[SortKey], ranking: RowRanking, descending: bool) -> list[SortKey]:
    return [
        key.model_copy(update={"descending": descending}) if key.column == ranking.column else key
        for key in keys
    ]


def _lead_keys(keys: Sequence[SortKey], ranking: RowRanking, descending: bool) -> list[SortKey]:
    """Order by the column of a ranking first; rankings of each group stay in the order of their groups."""
    if ranking.within:
        return _turn_keys(keys, ranking, descending)
    own = SortKey(column=ranking.column, descending=descending)
    return [own, *(key for key in keys if key.column != ranking.column)]
