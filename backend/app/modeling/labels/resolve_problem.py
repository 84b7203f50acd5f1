"""Settle what is to be predicted, from a wish and the table: every doubt is an error that says what to do."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from app.errors import InvalidInput
from app.json_types import JsonScalar
from app.modeling.labels.structure import find_group_column, find_time_column
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.metrics import metric_names
from app.modeling.problem.names import nearest_names
from app.modeling.problem.problem import Problem
from app.modeling.table.columns import ColumnKind, column_kind, require_columns
from app.modeling.table.json_values import class_label
from app.modeling.type_inference.spellings import fold_spelling

MAX_CLASSES = 100
MIN_PER_CLASS = 3
"""Rows of a class on average."""
POSITIVE_WORDS = ("1", "true", "yes", "y", "positive", "up", "t", "survived", "churned", "fraud", "malignant")


def define(frame: pd.DataFrame, wish: Mapping[str, Any]) -> Problem:
    """Complete what the user wished (at least `target`) from the data.

    A metric that is not defined for this target gives way to the one in `STAND_INS`. Raises InvalidInput with a
    stable code: `no_target`, `unknown_column`, `target_empty`, `target_constant`, `target_is_date`,
    `target_is_text`, `target_not_numeric`, `too_many_classes`, `too_few_per_class`, `bad_metric`,
    `bad_horizon`, `bad_barriers`, `no_time_column`, `bad_problem_kind`, `bad_positive_class`, `bad_costs`.
    """
    target = wish.get("target")
    if not target:
        raise InvalidInput("no_target", "Say which column is to be predicted.", field="target")
    named = [target, *(wish.get("exclude") or ())]
    named += [wish[key] for key in ("time_column", "group_column") if wish.get(key)]
    require_columns(frame, named)
    column = frame[target]
    _check_target(target, column)
    horizon = _horizon(wish.get("horizon"))
    outlook = _outlook(wish, column) if horizon else None
    kind = _kind(wish.get("kind") or wish.get("problem"), target, column, outlook)
    goal = str(wish.get("goal") or "")
    ordered = None if wish.get("time_column") else find_time_column(frame, target, bool(horizon), goal)
    grouped = None if wish.get("group_column") else find_group_column(frame, target, goal)
    problem = Problem(
        target=target,
        kind=kind,
        metric=_metric(wish.get("metric"), kind, 2),
        time_column=ordered.column if ordered else wish.get("time_column"),
        group_column=grouped.column if grouped else wish.get("group_column"),
        horizon=horizon,
        every_step=_every_step(wish, kind, horizon, outlook),
        outlook=outlook,
        exclude=tuple(wish.get("exclude") or ()),
        barriers=_barriers(wish.get("barriers"), outlook),
    )
    if horizon and not problem.time_column:
        raise InvalidInput(
            "no_time_column", "A horizon needs a date column that orders the rows.", field="time_column"
        )
    whole = _with_classes(problem, column, wish) if problem.is_classification else problem
    return _with_defined_metric(whole, column)


def _check_target(target: str, column: pd.Series) -> None:
    kind = column_kind(column)
    if kind is ColumnKind.EMPTY:
        raise InvalidInput("target_empty", f"The target {target!r} has no values.", column=target)
    if column.dropna().nunique() < 2:
        raise InvalidInput(
            "target_constant",
            f"The target {target!r} has only one value, so there is nothing to predict.",
            column=target,
        )
    if kind is ColumnKind.DATETIME:
        raise InvalidInput(
            "target_is_date",
            f"The target {target!r} is a date. Predict a number or a class, for example the days until it.",
            column=target,
        )


def _horizon(value: Any) -> int | None:
    if value is None or value == 0:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(
            "bad_horizon", f"A horizon is a whole number of rows ahead, not {value!r}.", field="horizon"
        )
    return value


def _every_step(
    wish: Mapping[str, Any], kind: ProblemKind, horizon: int | None, outlook: Outlook | None
) -> bool:
    """Only of numbers, and only where there is more than one step."""
    is_value = kind is ProblemKind.REGRESSION and outlook is Outlook.VALUE
    return bool(wish.get("every_step")) and is_value and bool(horizon and horizon > 1)


def _barriers(value: Any, outlook: Outlook | None) -> tuple[float, float] | None:
    """`{"take_profit": ..., "stop_loss": ...}` or a pair, as a pair."""
    if not value:
        return None
    pair = [value.get("take_profit"), value.get("stop_loss")] if isinstance(value, Mapping) else list(value)
    known = [float(each or 0.0) for each in pair]
    if outlook is not Outlook.DIRECTION or len(known) != 2 or not all(0 <= each < 1 for each in known):
        raise InvalidInput(
            "bad_barriers",
            "Barriers are a rise and a fall as shares of the price, as 0.01, for a forecast of a direction.",
            field="barriers",
        )
    return (known[0], known[1]) if any(known) else None


def _outlook(wish: Mapping[str, Any], column: pd.Series) -> Outlook | None:
    if column_kind(column) is not ColumnKind.NUMBER:
        return Outlook.VALUE
    if wish.get("outlook"):
        return Outlook(wish["outlook"])
    wants_class = (wish.get("kind") or wish.get("problem")) == ProblemKind.CLASSIFICATION
    return Outlook.DIRECTION if wants_class and column.nunique() > 10 else Outlook.VALUE


def _kind(wanted: Any, target: str, column: pd.Series, outlook: Outlook | None) -> ProblemKind:
    if outlook is Outlook.DIRECTION:
        return ProblemKind.CLASSIFICATION
    if outlook is Outlook.VOLATILITY:
        return ProblemKind.REGRESSION
    if wanted is None:
        return kind_of(column)
    if wanted not in list(ProblemKind):
        raise InvalidInput("bad_problem_kind", f"A problem is classification or regression, not {wanted!r}.")
    if wanted == ProblemKind.REGRESSION and column_kind(column) is not ColumnKind.NUMBER:
        raise InvalidInput(
            "target_not_numeric",
            f"Regression needs numbers, and {target!r} holds text or yes/no.",
            column=target,
        )
    return ProblemKind(wanted)


def kind_of(column: pd.Series) -> ProblemKind:
    """Regression for numbers that measure, classification for everything else.

    Whole numbers with at most 10 distinct values, each seen about 10 times or more, count as classes.
    """
    if column_kind(column) is not ColumnKind.NUMBER:
        return ProblemKind.CLASSIFICATION
    values = column.dropna()
    whole = bool((values == values.round()).all())
    distinct = values.nunique()
    few = distinct == 2 or (distinct <= 10 and distinct * 10 <= len(values))
    return ProblemKind.CLASSIFICATION if whole and few else ProblemKind.REGRESSION


def _metric(wanted: Any, kind: ProblemKind, classes: int, costs: object = None) -> str:
    if wanted is None:
        usual = ("cost" if costs else "roc_auc") if classes == 2 else "log_loss"
        return "rmse" if kind is ProblemKind.REGRESSION else usual
    if wanted not in metric_names(kind):
        close = nearest_names(str(wanted), metric_names(kind))
        raise InvalidInput(
            "bad_metric",
            f"{wanted!r} is not a metric for {kind.value}. Choose from {', '.join(metric_names(kind))}.",
            metric=str(wanted),
            nearest=close,
        )
    return str(wanted)


STAND_INS: tuple[tuple[str, Callable[[Problem, pd.Series], bool], str], ...] = (
    ("brier", lambda problem, column: not problem.is_binary, "log_loss"),
    ("average_precision", lambda problem, column: not problem.is_binary, "f1"),
    ("cost", lambda problem, column: not problem.is_binary, "accuracy"),
    ("top_3_accuracy", lambda problem, column: len(problem.classes or ()) <= 3, "accuracy"),
    ("mape", lambda problem, column: bool((column == 0).any()), "smape"),
    ("rmsle", lambda problem, column: bool((column < 0).any()), "rmse"),
    ("poisson_deviance", lambda problem, column: bool((column < 0).any()), "rmse"),
)
"""Metrics that are not defined for some targets, and what judges instead there."""


def _with_defined_metric(problem: Problem, column: pd.Series) -> Problem:
    for metric, is_undefined, instead in STAND_INS:
        if problem.metric == metric and is_undefined(problem, column):
            return replace(problem, metric=instead)
    return problem


def _costs(value: Any) -> tuple[float, float] | None:
    """`{"false_alarm": ..., "missed": ...}` or a pair, as a pair."""
    if not value:
        return None
    pair = [value.get("false_alarm"), value.get("missed")] if isinstance(value, Mapping) else list(value)
    known = [float(cost) for cost in pair if isinstance(cost, int | float) and 0 < cost < math.inf]
    if len(known) != 2 or len(pair) != 2:
        raise InvalidInput(
            "bad_costs",
            "Costs are two numbers above 0: of a false alarm and of a missed positive.",
            field="costs",
        )
    return known[0], known[1]


def _with_classes(problem: Problem, column: pd.Series, wish: Mapping[str, Any]) -> Problem:
    if problem.outlook is Outlook.DIRECTION:
        classes: list[JsonScalar] = ["down", "up"]
    else:
        classes = sorted({class_label(value) for value in column.dropna().unique()}, key=_sort_key)
    _check_classes(problem.target, column, len(classes))
    positive = _positive(wish.get("positive_class"), classes, column) if len(classes) == 2 else None
    costs = _costs(wish.get("costs")) if len(classes) == 2 else None
    metric = _metric(wish.get("metric"), problem.kind, len(classes), costs)
    return replace(problem, classes=tuple(classes), positive_class=positive, metric=metric, costs=costs)


def _check_classes(target: str, column: pd.Series, classes: int) -> None:
    rows = int(column.notna().sum())
    many, few_rows = classes > MAX_CLASSES, classes > 2 and rows < MIN_PER_CLASS * classes
    if not many and not few_rows:
        return
    if column_kind(column) is ColumnKind.TEXT:
        code, why = "target_is_text", "like a name or an identifier"
    elif many:
        code, why = "too_many_classes", f"more than {MAX_CLASSES} classes"
    else:
        code, why = "too_few_per_class", f"too many for {rows} rows: most classes would be seen once or twice"
    raise InvalidInput(code, f"The target {target!r} has {classes} different values, {why}.", column=target)


def _sort_key(value: JsonScalar) -> tuple[bool, Any]:
    return (isinstance(value, str), value)


def _positive(wanted: Any, classes: list[JsonScalar], column: pd.Series) -> JsonScalar:
    """The class that scores are about: as wished, else one that says yes, else the rarer one."""
    by_text = {fold_spelling(str(value)): value for value in classes}
    if wanted is not None:
        if fold_spelling(str(class_label(wanted))) not in by_text:
            raise InvalidInput(
                "bad_positive_class", f"{wanted!r} is not a class: {', '.join(map(str, classes))}."
            )
        return by_text[fold_spelling(str(class_label(wanted)))]
    for word in POSITIVE_WORDS:
        if word in by_text:
            return by_text[word]
    counts = column.dropna().map(class_label).value_counts()
    return min(classes, key=lambda value: (counts.get(value, 0), str(value)))
