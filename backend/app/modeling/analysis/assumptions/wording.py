"""Assumptions as JSON, with their evidence and their question as sentences."""

from collections.abc import Mapping, Sequence

from app.modeling.analysis.assumptions.entities_and_order import RowStructure
from app.modeling.analysis.assumptions.measurement import ComparedScores, bounds_json
from app.modeling.facts.assumptions import AssumptionJson, AssumptionKind, AssumptionSide
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.table.json_values import round_significant

LEAVE_OUT, KEEP = "leave them out", "keep them"
"""Answers to the question about columns."""


def make_assumption(
    kind: AssumptionKind,
    columns: Sequence[str],
    compared: ComparedScores,
    problem: Problem,
    side: AssumptionSide,
    why: str,
    question: str,
    options: Mapping[AssumptionSide, str],
) -> AssumptionJson:
    """Make the JSON of an assumption. `side`: the one that the split takes. `why`: its evidence, in a sentence.

    `compared`: scores with the assumption and without it, by the problem's metric. `options`: answers to the
    question, by the side that each one takes.
    """
    return {
        "kind": kind.value,
        "column": columns[0] if columns else None,
        "columns": list(columns),
        "metric": problem.metric,
        "holds_score": round_significant(compared.holds),
        "otherwise_score": round_significant(compared.otherwise),
        "interval": bounds_json(compared.difference_bounds),
        "holds_interval": bounds_json(compared.holds_bounds),
        "otherwise_interval": bounds_json(compared.otherwise_bounds),
        "rows": compared.rows,
        "matters": compared.matters,
        "chosen": side.value,
        "why": why,
        "question": question,
        "options": {side.value: text for side, text in options.items()},
    }


def format_score(score: float) -> str:
    """Format a score with three decimals, or three digits from 10 on."""
    return f"{score:.3f}" if abs(score) < 10 else f"{score:,.3g}" if abs(score) < 1000 else f"{score:,.0f}"


def _figures(compared: ComparedScores, problem: Problem) -> tuple[str, str, str]:
    label = METRICS[problem.metric].label
    return label, format_score(compared.holds), format_score(compared.otherwise)


def join_names(columns: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in columns)


def _other_choice(is_another_first: bool) -> str:
    if is_another_first:
        return "The split respects another structure."
    return "The split is at random, since the scores differ by no more than chance."


def entities_assumption(
    entity: RowStructure, compared: ComparedScores, problem: Problem, is_cautious: bool, is_another_first: bool
) -> AssumptionJson:
    """The condition that predicted rows belong to entities that the model learned from."""
    names = join_names(entity.columns)
    label, familiar, new = _figures(compared, problem)
    choice = (
        "The split keeps their rows together, as for new ones."
        if is_cautious
        else _other_choice(is_another_first)
    )
    return make_assumption(
        AssumptionKind.ENTITIES,
        entity.columns,
        compared,
        problem,
        AssumptionSide.OTHERWISE if is_cautious else AssumptionSide.HOLDS,
        f"{names}: {entity.evidence}. {choice}",
        f"Will the model predict rows of values of {names} that it has learned from? Its {label} is about"
        f" {familiar} for them, and {new} for new ones.",
        {AssumptionSide.HOLDS: "values it has learned from", AssumptionSide.OTHERWISE: "new values"},
    )


def time_assumption(
    order: RowStructure, compared: ComparedScores, problem: Problem, is_cautious: bool, is_another_first: bool
) -> AssumptionJson:
    """The condition that predicted rows are of the same times as the training rows."""
    name = join_names(order.columns)
    label, same, later = _figures(compared, problem)
    choice = "The latest rows are the hold-out." if is_cautious else _other_choice(is_another_first)
    return make_assumption(
        AssumptionKind.TIME,
        order.columns,
        compared,
        problem,
        AssumptionSide.OTHERWISE if is_cautious else AssumptionSide.HOLDS,
        f"{name}: {order.evidence}. {choice}",
        f"Will the model predict rows that are later than those in the table, by {name}? Its {label} is about"
        f" {later} for later rows, and {same} for rows of the same times.",
        {AssumptionSide.HOLDS: "rows of the same times", AssumptionSide.OTHERWISE: "later rows"},
    )


def code_assumption(name: str, compared: ComparedScores, problem: Problem, is_number: bool) -> AssumptionJson:
    """The condition that predicted rows have no later codes. `is_number`: the split can be made by the code."""
    label, same, later = _figures(compared, problem)
    options = {AssumptionSide.HOLDS: "codes among those of the table"}
    if is_number:
        options[AssumptionSide.OTHERWISE] = "later codes"
    return make_assumption(
        AssumptionKind.TIME,
        [name],
        compared,
        problem,
        AssumptionSide.HOLDS,
        f"The numbers of `{name}` grow with what changes in the table. The split is at random, so that the"
        " hold-out has no later ones.",
        f"Will the model predict rows whose `{name}` is later than those in the table? Its {label} is about"
        f" {later} for later ones, and {same} for rows among those of the table.",
        options,
    )


def column_assumption(
    columns: Sequence[str], reason: str, compared: ComparedScores, problem: Problem, side: AssumptionSide
) -> AssumptionJson:
    """The condition that columns have their values when the prediction is needed."""
    names = join_names(columns)
    label, with_columns, without = _figures(compared, problem)
    are, them = ("are", "them") if len(columns) > 1 else ("is", "it")
    choice = f"{names} {are} left out." if side is AssumptionSide.OTHERWISE else f"{names} {are} an input."
    return make_assumption(
        AssumptionKind.COLUMN,
        columns,
        compared,
        problem,
        side,
        f"{reason.rstrip('.')}. {choice}",
        f"Will {names} be known when the model is used? Its {label} is about {with_columns} with {them}, and"
        f" {without} without.",
        {AssumptionSide.HOLDS: KEEP, AssumptionSide.OTHERWISE: LEAVE_OUT},
    )


MIN_UNLIKE_SHARE = 0.1
"""Share of the rows without a target that are unlike all others, from which it is said."""


def recorded_target_assumption(
    problem: Problem, compared: ComparedScores, share: str, unlike: float
) -> AssumptionJson:
    """The condition that predicted rows are like those whose target was recorded.

    `share`: of the others. `unlike`: share of those that are unlike all rows with a target.
    """
    target = join_names([problem.target])
    label, recorded, unrecorded = _figures(compared, problem)
    is_beyond = unlike >= MIN_UNLIKE_SHARE
    beyond = (
        f" For {unlike:.0%} of those without one hardly any row like them has one, so that no score is known"
        " for them: the figure is that of the most similar rows, predicted by a model of the others."
        if is_beyond
        else ""
    )
    return make_assumption(
        AssumptionKind.RECORDED_TARGET,
        [problem.target],
        compared,
        problem,
        AssumptionSide.HOLDS,
        f"{target} is missing in {share} of the rows. The hold-out has only rows with one.{beyond}",
        f"Will the model predict rows like those with a recorded {target}? Its {label} is about {recorded} for"
        f" them, and {unrecorded}{' or worse' if is_beyond else ''} for rows like those without.",
        {AssumptionSide.HOLDS: "rows like those", AssumptionSide.OTHERWISE: "rows like the others"},
    )


def joined_table_assumption(
    table: str, columns: Sequence[str], matched: float, problem: Problem, compared: ComparedScores
) -> AssumptionJson:
    """The condition that predicted rows have a match in a joined table. `matched`: share of rows with one."""
    label, with_match, without = _figures(compared, problem)
    return make_assumption(
        AssumptionKind.JOINED_TABLE,
        columns,
        compared,
        problem,
        AssumptionSide.HOLDS,
        f"`{table}` was joined in by its keys, and {matched:.0%} of the training rows have a match. Its columns"
        " are inputs.",
        f"Will the rows to predict have a match in `{table}`? The {label} is about {with_match} for the"
        f" training rows, and {without} without its columns.",
        {AssumptionSide.HOLDS: "rows with a match", AssumptionSide.OTHERWISE: "rows without one"},
    )


def equal_rows_assumption(
    problem: Problem, compared: ComparedScores, count: str, is_near: bool
) -> AssumptionJson:
    """The condition that predicted rows may equal training rows.

    `count`: of those that equal another, or nearly do (`is_near`).
    """
    nearly = "nearly " * is_near
    label, equal, distinct = _figures(compared, problem)
    return make_assumption(
        AssumptionKind.EQUAL_ROWS,
        [],
        compared,
        problem,
        AssumptionSide.OTHERWISE,
        f"{count} training rows {nearly}equal another one, which is no coincidence. They stay on one side of"
        " every split.",
        f"Will the model predict rows that {nearly}equal one it has learned from? Its {label} is about {equal}"
        f" with such rows, and {distinct} without.",
        {AssumptionSide.HOLDS: "rows that may equal others", AssumptionSide.OTHERWISE: "rows of their own"},
    )
