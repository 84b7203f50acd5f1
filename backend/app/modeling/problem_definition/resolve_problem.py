"""Resolution of the prediction problem from a request and the table; every doubt is an error that says what
to do."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from app.errors import InvalidInput
from app.json_types import JsonScalar
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.metrics import metric_names
from app.modeling.problem.name_resolution import nearest_names
from app.modeling.problem.problem import Problem
from app.modeling.problem_definition.time_and_group_columns import (
    find_group_column,
    find_series_column,
    find_time_column,
    has_several_series,
)
from app.modeling.table.column_kinds import ColumnKind, column_kind, require_columns
from app.modeling.table.json_values import class_label
from app.modeling.type_inference.class_spellings import fold_spelling

MAX_CLASSES = 100
"""More distinct values are names or identifiers rather than classes."""
MIN_ROWS_PER_CLASS = 3
"""Rows of a class on average."""
POSITIVE_WORDS = ("1", "true", "yes", "y", "positive", "up", "t", "survived", "churned", "fraud", "malignant")


def resolve_problem(frame: pd.DataFrame, request: Mapping[str, Any]) -> Problem:
    """Complete a request (at least `target`) from the data.

    A metric that is not defined for this target is replaced by the one in `SUBSTITUTE_METRICS`; for the change
    or the volatility of a number `with_defined_metric` does so with the labels. Raises
    InvalidInput with a stable code: `no_target`, `unknown_column`, `target_empty`, `target_constant`,
    `target_is_date`, `target_is_text`, `target_not_numeric`, `too_many_classes`, `too_few_per_class`,
    `bad_metric`, `bad_horizon`, `bad_barriers`, `no_time_column`, `no_series_column`,
    `bad_problem_kind`, `bad_positive_class`, `bad_costs`.
    """
    target = request.get("target")
    if not target:
        raise InvalidInput("no_target", "Say which column is to be predicted.", field="target")
    columns = [target, *(request.get("exclude") or ())]
    columns += request.get("group_with") or ()
    columns += [request[key] for key in ("time_column", "group_column") if request.get(key)]
    require_columns(frame, columns)
    column = frame[target]
    _check_target(target, column)
    horizon = _horizon(request.get("horizon"))
    outlook = _outlook(request, column) if horizon else None
    kind = _kind(request.get("kind") or request.get("problem"), target, column, outlook)
    goal = str(request.get("goal") or "")
    time_column = None if request.get("time_column") else find_time_column(frame, target, bool(horizon), goal)
    group_column = None if request.get("group_column") else find_group_column(frame, target, goal)
    problem = Problem(
        target=target,
        kind=kind,
        # The classes are not known yet; `_with_classes` chooses again with their number.
        metric=_metric(request.get("metric"), kind, 2),
        time_column=time_column.column if time_column else request.get("time_column"),
        group_column=group_column.column if group_column else request.get("group_column"),
        group_with=() if group_column else tuple(request.get("group_with") or ()),
        horizon=horizon,
        every_step=_every_step(request, kind, horizon, outlook),
        outlook=outlook,
        exclude=tuple(request.get("exclude") or ()),
        barriers=_barriers(request.get("barriers"), outlook),
        made_of=str(request.get("made_of") or ""),
    )
    if horizon and not problem.time_column:
        raise InvalidInput(
            "no_time_column", "A horizon needs a date column that orders the rows.", field="time_column"
        )
    if horizon and not request.get("group_column"):
        problem = _with_series(problem, frame)
    if problem.is_classification:
        problem = _with_classes(problem, column, request)
    # Changes and volatilities are other numbers than those of the column: `labels` has them.
    is_of_column = problem.outlook in (None, Outlook.VALUE) or problem.is_classification
    return with_defined_metric(problem, column) if is_of_column else problem


def _with_series(problem: Problem, frame: pd.DataFrame) -> Problem:
    """Group the rows by the series that they belong to, if several share their moments.

    The future of a row would else be that of any other row. Raises InvalidInput `no_series_column`.
    """
    time_column = str(problem.time_column)
    if not has_several_series(frame[time_column]):
        return problem
    series = find_series_column(frame, problem.target, time_column, problem.horizon or 1)
    if series is None:
        raise InvalidInput(
            "no_series_column",
            f"Several rows have the same {time_column!r}, and no column tells their series apart. Name the"
            " column of the series, make one of several columns, or sum the rows of each moment up.",
            field="group_column",
        )
    return replace(problem, group_column=series.column, group_with=())


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
            "bad_horizon", f"A horizon must be a whole number of rows ahead, not {value!r}.", field="horizon"
        )
    return value


def _every_step(
    request: Mapping[str, Any], kind: ProblemKind, horizon: int | None, outlook: Outlook | None
) -> bool:
    """Return true if every step of the horizon is to be predicted: only for numbers, and for more than one
    step."""
    is_value = kind is ProblemKind.REGRESSION and outlook is Outlook.VALUE
    return bool(request.get("every_step")) and is_value and bool(horizon and horizon > 1)


def _barriers(value: Any, outlook: Outlook | None) -> tuple[float, float] | None:
    """Read `{"take_profit": ..., "stop_loss": ...}` or a pair."""
    if not value:
        return None
    pair = [value.get("take_profit"), value.get("stop_loss")] if isinstance(value, Mapping) else list(value)
    widths = [float(width or 0.0) for width in pair]
    if outlook is not Outlook.DIRECTION or len(widths) != 2 or not all(0 <= width < 1 for width in widths):
        raise InvalidInput(
            "bad_barriers",
            "Barriers are a rise and a fall as shares of the price, such as 0.01, for a forecast of a"
            " direction.",
            field="barriers",
        )
    return (widths[0], widths[1]) if any(widths) else None


def _outlook(request: Mapping[str, Any], column: pd.Series) -> Outlook | None:
    if column_kind(column) is not ColumnKind.NUMBER:
        return Outlook.VALUE
    if request.get("outlook"):
        return Outlook(request["outlook"])
    wants_class = (request.get("kind") or request.get("problem")) == ProblemKind.CLASSIFICATION
    # A number of few values is a class already, whose future value is asked for.
    return Outlook.DIRECTION if wants_class and column.nunique() > 10 else Outlook.VALUE


def _kind(requested: Any, target: str, column: pd.Series, outlook: Outlook | None) -> ProblemKind:
    if outlook is Outlook.DIRECTION:
        return ProblemKind.CLASSIFICATION
    if outlook is Outlook.VOLATILITY:
        return ProblemKind.REGRESSION
    if requested is None:
        return infer_kind(column)
    if requested not in list(ProblemKind):
        raise InvalidInput(
            "bad_problem_kind", f"A problem must be classification or regression, not {requested!r}."
        )
    if requested == ProblemKind.REGRESSION and column_kind(column) is not ColumnKind.NUMBER:
        raise InvalidInput(
            "target_not_numeric",
            f"Regression needs numbers, and {target!r} holds text or yes/no.",
            column=target,
        )
    return ProblemKind(requested)


def infer_kind(column: pd.Series) -> ProblemKind:
    """Infer the kind of problem: regression for numbers that measure, classification for everything else.

    Whole numbers with at most 10 distinct values, each occurring about 10 times or more, count as classes.
    """
    if column_kind(column) is not ColumnKind.NUMBER:
        return ProblemKind.CLASSIFICATION
    values = column.dropna()
    integral = bool((values == values.round()).all())
    distinct = values.nunique()
    # Grades and counts are classes where each has rows enough to be learned.
    few = distinct == 2 or (distinct <= 10 and distinct * 10 <= len(values))
    return ProblemKind.CLASSIFICATION if integral and few else ProblemKind.REGRESSION


def _metric(requested: Any, kind: ProblemKind, classes: int, costs: object = None) -> str:
    if requested is None:
        usual = ("cost" if costs else "roc_auc") if classes == 2 else "log_loss"
        return "rmse" if kind is ProblemKind.REGRESSION else usual
    if requested not in metric_names(kind):
        close = nearest_names(str(requested), metric_names(kind))
        raise InvalidInput(
            "bad_metric",
            f"{requested!r} is not a metric for {kind.value}. Choose from {', '.join(metric_names(kind))}.",
            metric=str(requested),
            nearest=close,
        )
    return str(requested)


SUBSTITUTE_METRICS: tuple[tuple[str, Callable[[Problem, pd.Series], bool], str], ...] = (
    ("brier", lambda problem, column: not problem.is_binary, "log_loss"),
    ("average_precision", lambda problem, column: not problem.is_binary, "f1"),
    ("cost", lambda problem, column: not problem.is_binary, "accuracy"),
    ("top_3_accuracy", lambda problem, column: len(problem.classes or ()) <= 3, "accuracy"),
    ("mape", lambda problem, column: bool((column == 0).any()), "smape"),
    ("rmsle", lambda problem, column: bool((column < 0).any()), "rmse"),
    ("poisson_deviance", lambda problem, column: bool((column < 0).any()), "rmse"),
)
"""Metric, the condition under which it is not defined, and the metric to use instead."""


def with_defined_metric(problem: Problem, labels: pd.Series) -> Problem:
    """Replace a metric that is not defined for these labels."""
    for metric, is_undefined, substitute in SUBSTITUTE_METRICS:
        if problem.metric == metric and is_undefined(problem, labels):
            return replace(problem, metric=substitute)
    return problem


def _costs(value: Any) -> tuple[float, float] | None:
    """Read `{"false_alarm": ..., "missed": ...}` or a pair."""
    if not value:
        return None
    pair = [value.get("false_alarm"), value.get("missed")] if isinstance(value, Mapping) else list(value)
    costs = [float(cost) for cost in pair if isinstance(cost, int | float) and 0 < cost < math.inf]
    if len(costs) != 2 or len(pair) != 2:
        raise InvalidInput(
            "bad_costs",
            "Costs are two numbers above 0: the cost of a false alarm and the cost of a missed positive.",
            field="costs",
        )
    return costs[0], costs[1]


def _with_classes(problem: Problem, column: pd.Series, request: Mapping[str, Any]) -> Problem:
    if problem.outlook is Outlook.DIRECTION:
        classes: list[JsonScalar] = ["down", "up"]
    else:
        # Sorted, so that the order of rows does not decide which probability stands where.
        classes = sorted({class_label(value) for value in column.dropna().unique()}, key=_sort_key)
    _check_classes(problem.target, column, len(classes))
    positive = _positive_class(request.get("positive_class"), classes, column) if len(classes) == 2 else None
    costs = _costs(request.get("costs")) if len(classes) == 2 else None
    metric = _metric(request.get("metric"), problem.kind, len(classes), costs)
    return replace(problem, classes=tuple(classes), positive_class=positive, metric=metric, costs=costs)


def _check_classes(target: str, column: pd.Series, classes: int) -> None:
    rows = int(column.notna().sum())
    many, few_rows = classes > MAX_CLASSES, classes > 2 and rows < MIN_ROWS_PER_CLASS * classes
    if not many and not few_rows:
        return
    if column_kind(column) is ColumnKind.TEXT:
        code, description = "target_is_text", "like a name or an identifier"
    elif many:
        code, description = "too_many_classes", f"more than {MAX_CLASSES} classes"
    else:
        code, description = (
            "too_few_per_class",
            f"too many for {rows} rows: most classes would occur once or twice",
        )
    raise InvalidInput(
        code, f"The target {target!r} has {classes} different values, {description}.", column=target
    )


def _sort_key(value: JsonScalar) -> tuple[bool, Any]:
    # Numbers before texts, which Python cannot compare with each other.
    return (isinstance(value, str), value)


def _positive_class(requested: Any, classes: list[JsonScalar], column: pd.Series) -> JsonScalar:
    """Choose the class that scores are about: the requested one, else one named like a yes, else the rarer
    one."""
    by_text = {fold_spelling(str(value)): value for value in classes}
    if requested is not None:
        if fold_spelling(str(class_label(requested))) not in by_text:
            raise InvalidInput(
                "bad_positive_class", f"{requested!r} is not a class: {', '.join(map(str, classes))}."
            )
        return by_text[fold_spelling(str(class_label(requested)))]
    for word in POSITIVE_WORDS:
        if word in by_text:
            return by_text[word]
    counts = column.dropna().map(class_label).value_counts()
    # The name decides between equally frequent classes, so that the choice is repeatable.
    return min(classes, key=lambda value: (counts.get(value, 0), str(value)))
