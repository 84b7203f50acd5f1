"""Overviews: missing values, descriptions, distributions and time spans."""

from app.agents.questions.conditions.date_columns import date_reference
from app.agents.questions.figures import QUARTILES, measured
from app.agents.questions.frames.group_figures import finish_groups, plan_figures
from app.agents.questions.frames.shares import group_shares
from app.agents.questions.items import QuestionItem
from app.agents.questions.ordering import Order, take_order
from app.agents.questions.phrases import QuestionItems
from app.agents.questions.question_reading import (
    QuestionReading,
    Value,
    is_measurable,
    make_value,
)
from app.agents.questions.rows_plan import Figure, start_plan
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.plan import (
    MAX_PROFILED_COLUMNS,
    GroupStep,
    Plan,
    ProfileStep,
    UnpivotStep,
)

MAX_BINS = 10
"""Classes of a histogram where no width is asked for."""
_GAPS = "missing|null|nulls|empty|blank|blanks|gaps|nan|nans"


def missing_values(reading: QuestionReading) -> Plan | None:
    """`missing values in each column`, `which column has the most gaps`, `how many ages are missing`."""
    text = reading.text
    is_share = text.has("share|percent|percentage|proportion|fraction|%|pct")
    complete = text.has("complete|completeness|filled")
    is_ranked = text.has(f"most|fewest|least {_GAPS}")
    per_column = (
        text.find(
            f"{_GAPS} values|cells|data|entries? by|per|in|for|of each|every|all|the? column|columns|"
            f"variable|variables|field|fields|feature"
        )
        or text.find(f"column|columns|variable|field has|have|with the? most|fewest {_GAPS} values?")
        or text.find("percent|share|% filled|complete per|by|in column|variable|each")
        or text.find(f"how many|number of|count {_GAPS} values|cells are?|in? there|table|data|dataset?")
        or text.find("complete data")
    )
    if per_column is None and (not text.has(f"{_GAPS}") or _says_state(text)):
        return None
    mention = text.find("C=column")
    if mention is not None and text.has(f"{_GAPS}"):
        item = text.required(mention, "column")
        for phrase in (
            _GAPS,
            "values|cells|entries",
            "C",
            "how many|number of",
            "share|percent|percentage|proportion|%",
        ):
            text.take(phrase, "figure")
        return _missing_of(reading, item, is_share)
    if per_column is None:
        # A profile is of all rows of a table, so that conditions and groups would have no effect.
        if reading.conditions or reading.keys:
            return None
        text.take_any((_GAPS,), "figure")
    else:
        text.use(per_column.places, "figure")
    text.take_any((_GAPS, "complete|filled|completeness"), "figure")
    _take_columns(text)
    draft = start_plan(reading)
    columns = reading.scope.stored_columns(draft.source.base)[:MAX_PROFILED_COLUMNS]
    if len(reading.scope.stored_columns(draft.source.base)) > MAX_PROFILED_COLUMNS:
        draft.select([c.name for c in columns])
    is_ranked |= text.take_any(("most", "fewest|least"), "figure") is not None
    draft.steps.append(ProfileStep(kind="profile"))
    rows = build.arithmetic("/", build.column("missing"), build.column("rows"))
    draft.steps.append(build.derive("share missing", rows))
    if is_share or complete:
        draft.steps.append(build.derive("share filled", build.arithmetic("-", build.literal(1.0), rows)))
    if not is_share and _asks_total(text):
        draft.steps.append(_total_of_gaps())
        return draft.plan()
    displayed = ["column", "missing", "share missing", *(["share filled"] if is_share or complete else [])]
    if is_ranked:
        draft.steps.append(build.sort(("missing", True), ("column", False)))
    draft.select(displayed)
    return draft.plan()


def _take_columns(text: QuestionItems) -> None:
    while text.take("C", "figure"):
        pass


def _total_of_gaps() -> GroupStep:
    """The missing values of all columns of a profile together, and the number of columns with some."""
    has_gaps = build.compare(">", build.column("missing"), build.literal(0))
    total = build.aggregation("missing values", "sum", "missing")
    return build.group([], [total, build.aggregation("columns with gaps", "count", where=has_gaps)])


def _asks_total(text: QuestionItems) -> bool:
    """Tell if it is asked whether a table has gaps at all: `any nulls?`."""
    return text.has("any") and not text.has(
        "column|columns|variable|variables|field|fields|feature|features|where|which|each|every|per|by"
    )


def _says_state(text: QuestionItems) -> bool:
    """Tell if a word for gaps says how rows are: `how many flats are empty` asks for no missing names."""
    if text.has(f"where C @is {_GAPS}"):
        return True  # a condition on the rows that are asked for
    mention = text.find("C=column")
    item = text.required(mention, "column") if mention else None
    names_rows = item is not None and bool(item.row_tables) and not item.columns[0].column.missing
    return names_rows and not text.has("values|value|cells|entries")


def _missing_of(reading: QuestionReading, item: QuestionItem, is_share: bool) -> Plan:
    reference = reading.column(item)
    missing = build.is_missing(reference.expression)
    value = Value(missing, f"{reference.column.name} missing", "boolean")
    figures = [Figure("count", where=missing, label=f"missing {reference.column.name}")]
    share = Figure("share_true", value, label=f"share missing {reference.column.name}")
    figures = [share] if is_share else [*figures, share]
    draft = start_plan(reading, [value])
    if reading.keys:
        finish_groups(draft, reading.keys, figures, Order())
    else:
        draft.group([], figures)
    return draft.plan()


def describe(reading: QuestionReading) -> Plan | None:
    """`describe height`, `summary statistics of the table`, `five-number summary of wages`."""
    match = reading.text.take_any(
        (
            "describe|summarize|summarise C=column",
            ("summary|overview|description|statistics|stats statistics|stats? of|for? C=column"),
            ("N number summary of? C=column"),
        ),
        "figure",
    )
    if match is not None:
        item = reading.text.required(match, "column")
        reading.text.take_any(("summary|statistics|stats|statistic",), "figure")
        # A text has no mean: it is described by how often each value occurs.
        if not any(is_measurable(m.column) for m in item.columns):
            reading.keys.append(make_value(reading.column(item)))
            return group_shares(reading)
        value = measured(reading, item)
        figures = [
            Figure("count", value, label="count"),
            Figure("mean", value, label="mean"),
            Figure("stddev", value, label="std"),
            Figure("min", value, label="min"),
            *(Figure("quantile", value, share=s, label=f"{100 * s:g}%") for s in QUARTILES),
            Figure("max", value, label="max"),
        ]
        plan = plan_figures(reading, figures, Order())
        if reading.keys:
            return plan
        names = [figure.name for figure in figures]
        # The statistics become one column, which has one type: the count is an integer, the mean is not.
        casts = [build.derive(name, build.cast_to("number", build.column(name))) for name in names]
        statistics = UnpivotStep(kind="unpivot", columns=names, name="statistic", value=value.label)
        return Plan(source=plan.source, steps=[*plan.steps, *casts, statistics])
    match = reading.text.take_any(
        (
            "describe|summarize|summarise E|data|dataset|table|everything|it?",
            ("summary|descriptive statistics|stats"),
            ("summary|overview of E|data|dataset|table"),
            "summary",
        ),
        "figure",
    )
    if match is None or reading.keys:
        return None
    reading.text.take_any(("statistics|stats",), "figure")
    while reading.text.take("E", "figure"):
        pass
    draft = start_plan(reading)
    columns = reading.scope.stored_columns(draft.source.base)
    if len(columns) > MAX_PROFILED_COLUMNS:
        draft.select([c.name for c in columns[:MAX_PROFILED_COLUMNS]])
    draft.steps.append(ProfileStep(kind="profile"))
    return draft.plan()


def distribution(reading: QuestionReading) -> Plan | None:
    """`distribution of calories`, `histogram of age`, `crosstab of sex by vote`, `breakdown by region`."""
    text = reading.text
    if match := text.take(
        (
            "crosstab|cross-tabulation|crosstabulation|contingency|cross table|tab? of? C=first by|and|"
            "with|vs|versus|against|, C=second"
        ),
        "figure",
    ):
        return _crosstab(reading, text.item(match, "first"), text.item(match, "second"))
    if (
        text.has("crosstab|contingency")
        and len(reading.keys) == 1
        and (match := text.take("crosstab|contingency table? of? C=first", "figure"))
    ):
        item = text.item(match, "first")
        second = reading.keys.pop()
        return _crosstab_values(reading, make_value(reading.column(item)) if item else second, second)
    match = text.take_any(
        (
            "distribution|histogram|breakdown|spread|split of|by|for|in? C=column",
            ("C=column distribution|histogram|breakdown"),
            ("distribution|histogram|breakdown"),
        ),
        "figure",
    )
    if match is None:
        return None
    item = text.item(match, "column")
    order = take_order(reading)
    if item is None:
        if not reading.keys:
            return None
        # Classes of a number keep the order of their bounds; shares are sorted by size.
        if any(key.type == "number" for key in reading.keys):
            return plan_figures(reading, [Figure("count", label="rows")], order)
        return group_shares(reading)
    reference = reading.column(item)
    column = reference.column
    # Few different numbers are shown as they are, since classes would merge them.
    if is_measurable(column) and column.distinct > 20:
        reading.keys.append(_bins(reference))
        return plan_figures(reading, [Figure("count", label="rows")], Order())
    reading.keys.append(make_value(reference))
    return (
        group_shares(reading)
        if not is_measurable(column)
        else plan_figures(reading, [Figure("count", label="rows")], order)
    )


def _bins(reference: Reference) -> Value:
    """Classes of a number, about ten of a round width."""
    low, high = float(reference.column.low or 0), float(reference.column.high or 1)
    raw = max((high - low) / MAX_BINS, 1e-9)
    scale = 10.0 ** len(str(int(raw))) / 10 if raw >= 1 else 1.0
    while scale > raw:
        scale /= 10
    width = next(step * scale for step in (1, 2, 5, 10) if step * scale >= raw)
    number = build.literal(int(width) if width == int(width) else width)
    lower = build.arithmetic(
        "*", build.call("floor", build.arithmetic("/", reference.expression, number)), number
    )
    return Value(lower, f"{reference.column.name} from", "number", reference)


def _crosstab(reading: QuestionReading, first: QuestionItem | None, second: QuestionItem | None) -> Plan | None:
    if first is None or second is None:
        return None
    return _crosstab_values(reading, make_value(reading.column(first)), make_value(reading.column(second)))


def _crosstab_values(reading: QuestionReading, rows: Value, columns: Value) -> Plan:
    """Counts with a column for each value, if all values are known, else a row for each pair."""
    values = [*columns.reference.column.values] if columns.reference else []
    if (
        columns.reference is None
        or not 1 < len(values) <= 20
        or len(values) < columns.reference.column.distinct
    ):
        reading.keys += [rows, columns]
        return plan_figures(reading, [Figure("count", label="rows")], Order())
    figures = [
        Figure("count", where=build.compare("=", columns.expression, build.literal(value)), label=str(value))
        for value in sorted(values, key=str)
    ]
    draft = start_plan(reading, [rows, columns])
    draft.keep(build.is_present(columns.expression))
    finish_groups(draft, [rows], figures, Order())
    return draft.plan()


def time_span(reading: QuestionReading) -> Plan | None:
    """`which time span does this cover`, `range of sugar`, `earliest and latest order date`."""
    match = reading.text.take_any(("range|span of|in C=column", "C=column range"), "figure")
    if match is not None:
        item = reading.text.required(match, "column")
        value = reading.value(item)
        figures = [
            Figure("min", value, label=f"lowest {value.label}"),
            Figure("max", value, label=f"highest {value.label}"),
        ]
        draft_plan = plan_figures(reading, figures, Order())
        if not reading.keys and value.type in ("integer", "number"):
            difference = build.arithmetic("-", build.column(figures[1].name), build.column(figures[0].name))
            return Plan(source=draft_plan.source, steps=[*draft_plan.steps, build.derive("range", difference)])
        return draft_plan
    match = reading.text.take_any(
        (
            "time|date span|range|period|ranges",
            "period|timespan|timeframe|dates covered|cover|span?",
            ("earliest|first and latest|last date|dates|day|time|C"),
        ),
        "figure",
    )
    reference = date_reference(reading) if match else None
    if match is None or reference is None:
        return None
    reading.text.take_any(("cover|covers|covered|span|spans|include|includes",), "figure")
    while reading.text.take("E", "figure"):
        pass
    value = make_value(reference)
    return plan_figures(
        reading, [Figure("min", value, label="earliest"), Figure("max", value, label="latest")], Order()
    )
