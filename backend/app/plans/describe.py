"""A plan in one plain English sentence."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, time, timedelta
from itertools import pairwise
from typing import Any

from app.plans import expressions as e
from app.plans import plan as p
from app.plans.combined_figures import describe_combinations
from app.plans.conditions import is_presence, list_columns
from app.plans.ranking_changes import describe_rank_bound

_SIGNS = {"=": "is", "!=": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least"}


def describe_plan(plan: p.Plan) -> str:
    """Describe what a plan computes: figures, groups, conditions, order and tables."""
    return ", ".join(part for part in (*_describe_steps(plan), _describe_source(plan)) if part)


def _describe_source(plan: p.Plan) -> str:
    match plan.source:
        case p.DatasetSource() | p.WorkspaceSource():
            tables = [plan.source.table, *_joined_tables(plan.steps)]
            return f"from {' and '.join(f'`{name}`' for name in dict.fromkeys(tables))}"
        case p.PlanSource():
            return f"of the following rows: {describe_plan(plan.source.plan)}"
    return f"from {plan.source.rows:,} made rows"


def _joined_tables(steps: Sequence[p.Step]) -> list[str]:
    return [
        step.source.table
        for step in steps
        if isinstance(step, p.JoinStep)
        and step.how in ("inner", "left")
        and isinstance(step.source, p.DatasetSource | p.WorkspaceSource)
    ]


def _describe_steps(plan: p.Plan) -> list[str]:
    names = {
        derived.name: derived.expression
        for step in plan.steps
        if isinstance(step, p.DeriveStep)
        for derived in step.columns
    }
    parts: list[str] = []
    lists_rows = not any(isinstance(step, p.GroupStep | p.WindowStep) for step in plan.steps)
    if lists_rows and not any(isinstance(step, p.LimitStep) for step in plan.steps):
        parts += _orders_of_lists(plan.steps)
    stored_numbers = _stored_numbers(plan.steps)
    for step in plan.steps:
        if isinstance(step, p.SortStep | p.WindowStep) and _is_of_stored_order(step, stored_numbers):
            continue
        if isinstance(step, p.LimitStep) and stored_numbers:
            parts.append(f"the last {step.rows:,} rows")
            continue
        if isinstance(step, p.LimitStep):
            parts += _limited_order(plan.steps)
        if isinstance(step, p.WindowStep) and (verdicts := _verdicts(step, plan.steps)):
            parts += verdicts
            continue
        # `where age is given` beside `the mean of age` would sound like a condition that somebody asked for.
        if isinstance(step, p.FilterStep) and is_presence(step) and _is_understood(step, plan.steps):
            continue
        if isinstance(step, p.ProfileStep) and any(isinstance(own, p.GroupStep) for own in plan.steps):
            return [*parts, "the missing values of all columns together, and the number of columns with some"]
        parts += describe_combinations(step, plan.steps) if isinstance(step, p.DeriveStep) else []
        parts += _STEPS[type(step)](step, names)
    has_figures = any(
        isinstance(step, p.GroupStep | p.PivotStep | p.ProfileStep | p.CorrelateStep) for step in plan.steps
    )
    return _figures_first(parts) if has_figures else ["the rows", *parts]


def _stored_numbers(steps: Sequence[p.Step]) -> frozenset[str]:
    """Return the names of columns that number the rows as they are stored."""
    figures = (figure for step in steps if isinstance(step, p.WindowStep) for figure in step.columns)
    return frozenset(figure.name for figure in figures if figure.function == "row_number" and not figure.order)


def _is_of_stored_order(step: p.SortStep | p.WindowStep, numbers: frozenset[str]) -> bool:
    """Tell if a step only numbers the rows as they are stored, or sorts by such numbers."""
    if isinstance(step, p.SortStep):
        return step.keys[0].column in numbers
    return {figure.name for figure in step.columns} <= numbers


def _figures_first(parts: list[str]) -> list[str]:
    """Put the conditions of the rows behind the figure that is made of them, as a sentence has them."""
    first = next(
        (place for place, part in enumerate(parts) if not part.startswith(("where ", "with ", "without "))), 0
    )
    return [*parts[first : first + 1], *parts[:first], *parts[first + 1 :]]


def _figure(aggregation: p.Aggregation, names: "Names") -> str:
    of = _name(aggregation.column, names) if aggregation.column else ""
    where = f" where {describe_expression(aggregation.where, names)}" if aggregation.where else ""
    match aggregation.function:
        case "count":
            text = f"the number of rows with {of}" if of and not where else "the number of rows"
        case "count_distinct":
            text = f"the number of different {of}"
        case "stddev":
            text = f"the standard deviation of {of}"
        case "quantile":
            text = f"the {100 * (aggregation.share or 0):g} % quantile of {of}"
        case "correlation":
            text = f"the correlation of {of} and {_name(aggregation.other or '', names)}"
        case "slope":
            text = f"the slope of {of} over {_name(aggregation.other or '', names)}"
        case "share_true":
            text = f"the share of rows where {of.strip('()')}"
        case "first":
            text = f"a value of {of}"
        case "sum":
            text = f"the total of {of}"
        case function:
            text = f"the {function}{'imum' if function in ('min', 'max') else ''} of {of}"
    return text + where


Names = dict[str, e.Expression]


def _name(name: str, names: Names) -> str:
    if name in names:
        # Without the names, so that a column derived from its own name is not described forever.
        return f"({describe_expression(names[name], {})})"
    return f"`{name}`"


def _group(step: p.GroupStep, names: Names) -> list[str]:
    figures = (
        " and ".join(_figure(aggregation, names) for aggregation in step.aggregations) or "the combinations"
    )
    # Numbers of months and weekdays are keys only so that their names come in order.
    keys = [key for key in step.keys if not key.endswith(" number")]
    by = f" for each {' and '.join(f'`{key}`' for key in keys)}" if keys else ""
    return [figures + by]


def _filter(step: p.FilterStep, names: Names) -> list[str]:
    text = describe_expression(step.condition, names)
    # The rank is a column that the plan made to find the first rows; readers did not ask for it.
    if text.startswith("`rank` is"):
        return [describe_rank_bound(text.removeprefix("`rank` is "))]
    return [f"where {text}"]


def _is_understood(presence: p.FilterStep, steps: Sequence[p.Step]) -> bool:
    """Tell if a value must be given because a figure, a group or an order needs it."""
    columns = list_columns(presence.condition, {})
    others = [step for step in steps if not isinstance(step, p.FilterStep | p.SelectStep | p.JoinStep)]
    texts = {text for step in others for text in _texts(step.model_dump())}
    return not columns or bool(columns & texts)


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list | tuple):
        for value in part.values() if isinstance(part, dict) else part:
            yield from _texts(value)


def _sort(step: p.SortStep, names: Names) -> list[str]:
    # Further keys only make the order of equal rows definite.
    first = step.keys[0]
    return [f"the highest `{first.column}` first"] if first.descending else []


def _orders_of_lists(steps: Sequence[p.Step]) -> list[str]:
    """Describe the ascending order of rows that are listed without a limit."""
    orders = [step.keys[0] for step in steps if isinstance(step, p.SortStep)]
    return [f"the lowest `{key.column}` first" for key in orders[-1:] if not key.descending]


def _limited_order(steps: Sequence[p.Step]) -> list[str]:
    """Describe an ascending order that a limit follows: without a limit it only helps to find a row."""
    for step, following in pairwise(steps):
        if isinstance(step, p.SortStep) and isinstance(following, p.LimitStep) and not step.keys[0].descending:
            return [f"the lowest `{step.keys[0].column}` first"]
    return []


def _join(step: p.JoinStep) -> list[str]:
    """Describe the rows that a semi or anti join looks for; other joins only add columns."""
    if step.how not in ("anti", "semi"):
        return []
    article = "without any row of" if step.how == "anti" else "with a row of"
    match step.source:
        case p.DatasetSource() | p.WorkspaceSource():
            return [f"{article} `{step.source.table}`"]
        case p.PlanSource():
            inner = step.source.plan
            # Its conditions alone: figures and order of the other table do not matter to who has a row in it.
            where = [part for part in _describe_steps(inner) if part.startswith("where ")]
            table = _describe_source(inner).removeprefix("from ")
            return [" ".join([article, table, " and ".join(where)]).rstrip()]
    return []


def _verdicts(step: p.WindowStep, steps: Sequence[p.Step]) -> list[str]:
    """Say what the comparisons with a figure are for that is not shown itself."""
    selections = [own for own in steps if isinstance(own, p.SelectStep)]
    hidden = {figure.name for figure in step.columns}
    if not selections or hidden & {column.name for column in selections[-1].columns}:
        return []
    derived = (column for own in steps if isinstance(own, p.DeriveStep) for column in own.columns)
    return [
        f"and whether it is {column.name}"
        for column in derived
        if isinstance(column.expression, e.CompareExpression)
        and isinstance(column.expression.right, e.ColumnExpression)
        and column.expression.right.name in hidden
    ]


_STATISTICS = frozenset({"mean", "median", "stddev", "quantile", "min", "max"})
"""Figures of all rows, with which a later condition compares each of them."""


def _window(step: p.WindowStep, names: Names) -> list[str]:
    parts = []
    for figure in step.columns:
        if figure.function in _STATISTICS and not figure.within:
            continue  # the condition that compares rows with it names it
        within = f" within each {' and '.join(f'`{n}`' for n in figure.within)}" if figure.within else ""
        if figure.function in ("rank", "row_number", "dense_rank") and figure.order:
            key = figure.order[0]
            parts.append(f"ranked by the {'highest' if key.descending else 'lowest'} `{key.column}`{within}")
        else:
            of = f" of `{figure.column}`" if figure.column else ""
            parts.append(f"with the {figure.function.replace('_', ' ')}{of}{within}")
    return parts


_STEPS: dict[type, Callable[[Any, Names], list[str]]] = {
    p.JoinStep: lambda step, _: _join(step),
    p.FilterStep: _filter,
    p.DeriveStep: lambda step, _: [],
    p.GroupStep: _group,
    p.WindowStep: _window,
    p.SortStep: _sort,
    p.SelectStep: lambda step, _: [],
    p.TopKStep: lambda step, _: [
        f"the {step.k} with the {'highest' if step.descending else 'lowest'} `{step.by}`"
    ],
    p.LimitStep: lambda step, _: [f"the first {step.rows:,} rows"],
    p.DistinctStep: lambda step, _: ["without duplicates"],
    p.UnionStep: lambda step, _: ["and further rows"],
    p.PivotStep: lambda step, _: [f"the {step.function} for each value of `{step.column}`"],
    p.UnpivotStep: lambda step, _: [f"with a row for each of {len(step.columns)} columns"],
    p.SampleStep: lambda step, _: [f"{step.rows:,} rows by chance"],
    p.ProfileStep: lambda step, _: ["type, missing values and range of each column"],
    p.CorrelateStep: lambda step, _: [
        f"the correlations of {' and '.join(f'`{name}`' for name in step.columns)}"
    ],
}


def describe_expression(expression: e.Expression, names: Names | None = None) -> str:
    """Describe a value or a condition in words. `names`: expressions of derived columns."""
    derived = names or {}
    return _EXPRESSIONS[type(expression)](expression, lambda part: describe_expression(part, derived), derived)


Say = Callable[[e.Expression], str]


def _literal(expression: e.LiteralExpression, say: Say, names: Names) -> str:
    value = expression.value
    if day := _day(expression):
        return str(day)
    return repr(value) if isinstance(value, str) and not expression.type else str(value)


def _comparison(expression: e.CompareExpression, say: Say, names: Names) -> str:
    return _class_condition(expression, say, names) or (
        f"{say(expression.left)} {_SIGNS[expression.op]} {say(expression.right)}"
    )


def _class_condition(expression: e.CompareExpression, say: Say, names: Names) -> str:
    """Describe `class = label` by the condition of the class, which says more than a label; else empty."""
    operand = expression.left
    if isinstance(operand, e.ColumnExpression):
        operand = names.get(operand.name, operand)
    if not isinstance(operand, e.CaseExpression) or expression.op != "=":
        return ""
    meant = [branch.when for branch in operand.branches if branch.then == expression.right]
    return say(meant[0]) if len(meant) == 1 else ""


def _negation(expression: e.NotExpression, say: Say, names: Names) -> str:
    operand = expression.operand
    return (
        f"{say(operand.operand)} is given"
        if isinstance(operand, e.IsNullExpression)
        else f"not ({say(operand)})"
    )


def _call(expression: e.CallExpression, say: Say, names: Names) -> str:
    if expression.function in ("starts_with", "ends_with"):
        text, end = map(say, expression.arguments)
        return f"{text} {expression.function.replace('_', ' ')} {end}"
    if expression.function == "coalesce":
        return " or, where it is missing, ".join(map(say, expression.arguments))
    texts = " and ".join(map(say, expression.arguments))
    # Case is ignored in comparisons of texts, which needs no words.
    return texts if expression.function == "lower" else f"{expression.function.replace('_', ' ')} {texts}"


def _logic(expression: e.LogicExpression, say: Say, names: Names) -> str:
    parts = [say(operand) for operand in expression.operands]
    if expression.kind == "and":
        for place, (first, second) in enumerate(pairwise(expression.operands)):
            if days := _days_between(first, second):
                # The second of the two is said with the first.
                parts[place : place + 2] = [f"{say(first.left)} is {days}", ""]  # type: ignore[union-attr]
    return f" {expression.kind} ".join(part for part in parts if part)


def _days_between(first: e.Expression, second: e.Expression) -> str:
    """Describe the days from the bound of one comparison up to that of another; empty for other conditions."""
    if not isinstance(first, e.CompareExpression) or not isinstance(second, e.CompareExpression):
        return ""
    start, end = _day(first.right), _day(second.right)
    is_span = (first.op, second.op) == (">=", "<") and first.left == second.left
    if not is_span or start is None or end is None or end <= start:
        return ""
    last = end - timedelta(days=1)
    if start == last:
        return f"on {start}"
    if (start.day, end.day) == (1, 1):
        if (start.month, end.month, end.year) == (1, 1, start.year + 1):
            return f"in {start.year}"
        if (end - start).days <= MAX_DAYS_OF_MONTH:
            return f"in {start:%Y-%m}"
    return f"from {start} to {last}"


MAX_DAYS_OF_MONTH = 31
"""Days of the longest span from the first of a month to another first that is one month."""


def _day(bound: e.Expression) -> date | None:
    """Return the day of a bound without a time of day."""
    if not isinstance(bound, e.LiteralExpression) or bound.type != "datetime":
        return None
    moment = e.parse_datetime(bound.value)
    return None if moment.time() > time.min else moment.date()


_UNITS_BY_DAYS = {7.0: "weeks", 30.4375: "months", 365.25: "years"}
"""Units by their days, of months and years the Julian mean."""
_SECONDS = {60.0: "minutes", 3_600.0: "hours", 86_400.0: "days", 604_800.0: "weeks"} | {
    2_629_800.0: "months",
    31_557_600.0: "years",
}
"""Units by their seconds, of months and years the Julian mean."""


def _arithmetic(expression: e.ArithmeticExpression, say: Say, names: Names) -> str:
    span, divisor = expression.left, expression.right
    if isinstance(span, e.CallExpression) and expression.op == "/" and isinstance(divisor, e.LiteralExpression):
        spelled = span.function.removesuffix("_between")
        units = {"seconds": _SECONDS, "days": _UNITS_BY_DAYS}.get(spelled, {})
        unit = units.get(divisor.value) if isinstance(divisor.value, int | float) else None
        if unit is not None:
            return say(span).replace(spelled, unit, 1)
    return f"{say(expression.left)} {expression.op} {say(expression.right)}"


_EXPRESSIONS: dict[type, Callable[[Any, Say, Names], str]] = {
    e.ColumnExpression: lambda part, _, names: _name(part.name, names),
    e.LiteralExpression: _literal,
    e.ArithmeticExpression: _arithmetic,
    e.CompareExpression: _comparison,
    e.LogicExpression: _logic,
    e.NotExpression: _negation,
    e.InExpression: lambda part, say, _: f"{say(part.operand)} is one of {', '.join(map(repr, part.values))}",
    e.BetweenExpression: lambda part, say, _: (
        f"{say(part.operand)} is from {say(part.low)} to {say(part.high)}"
    ),
    e.IsNullExpression: lambda part, say, _: f"{say(part.operand)} is missing",
    e.LikeExpression: lambda part, say, _: f"{say(part.operand)} is like {part.pattern!r}",
    e.ContainsExpression: lambda part, say, _: f"{say(part.operand)} contains {part.text!r}",
    e.CaseExpression: lambda part, say, _: f"the class of {say(part.branches[0].when).split(' is ')[0]}",
    e.DatePartExpression: lambda part, say, _: f"the {part.part} of {say(part.operand)}",
    e.DateTruncExpression: lambda part, say, _: f"the {part.unit} of {say(part.operand)}",
    e.CastExpression: lambda part, say, _: say(part.operand),
    e.CallExpression: _call,
}
