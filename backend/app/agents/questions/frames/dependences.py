"""Frames of dependences: a number correlated with all others, and the slope of one over another."""

from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.frames.group_figures import plan_figures
from app.agents.questions.items import QuestionItem
from app.agents.questions.ordering import Order
from app.agents.questions.question_reading import QuestionReading, is_measurable, make_value
from app.agents.questions.rows_plan import Figure, PlanDraft, start_plan
from app.agents.questions.tables.scope import stored_type
from app.plans import build
from app.plans.plan import MAX_CORRELATED_COLUMNS, CorrelateStep, Plan

_OTHERS = "everything|anything|others|other|all|every|each|remaining|rest"
_REST = frozenset(_OTHERS.split("|")) | word_set(
    "else of number numbers column columns numeric measure measures"
)
_CORRELATE = "correlate|correlates|correlation|correlations"
_COLUMN_NOUNS = "number|column|measure|variable|figure|one"
_LINKED = "goes|go|correlates|correlated|related|linked|associated"
_ORDERED = "strongest|highest|largest|best first|on?"


_HOW = "most|best|closest strongly|closely?"
_STRONGEST = (
    f"which|what|the? {_COLUMN_NOUNS} that|which? {_LINKED} together? {_HOW} with|to C=column",
    f"which|what|the? {_COLUMN_NOUNS} is|are {_HOW} {_LINKED} with|to C=column",
    f"which|what|the? {_COLUMN_NOUNS} that? has the? strongest|highest {_CORRELATE}|link with|to C=column",
)


def strongest_correlation(reading: QuestionReading) -> Plan | None:
    """`which number goes together best with the price`."""
    for phrase in _STRONGEST:
        match = reading.text.find(phrase)
        item = reading.text.item(match, "column") if match else None
        if match is not None and item is not None and _is_number(item):
            reading.text.use(match.places, "figure")
            if draft := _correlate(reading, item):
                return Plan(source=draft.plan().source, steps=[*draft.plan().steps, build.limit(1)])
    return None


def correlations_with_others(reading: QuestionReading) -> Plan | None:
    """`correlate the price with everything else, strongest first`."""
    match = reading.text.find(f"{_CORRELATE} of|between? C=column with|and|to {_OTHERS}")
    item = reading.text.item(match, "column") if match else None
    if match is None or item is None or not _is_number(item):
        return None
    end = match.places[-1] + 1
    items = reading.text.items
    while end < len(items) and items[end].text in _REST:
        end += 1
    reading.text.use([*match.places, *range(match.places[-1] + 1, end)], "figure")
    reading.text.take_any((f"{_ORDERED} first?", "sorted|ranked by strength|size"), "figure")
    draft = _correlate(reading, item)
    return draft.plan() if draft else None


def _correlate(reading: QuestionReading, item: QuestionItem) -> PlanDraft | None:
    """The correlations of a number with each other one of its table, the strongest first."""
    draft = start_plan(reading)
    reference = reading.column(item, True)
    own = draft.name_of(make_value(reference))
    others = [
        column.name
        for column in reading.scope.stored_columns(draft.source.base)
        if is_measurable(column) and stored_type(column) in ("integer", "number") and column.name != own
    ]
    if not 1 <= len(others) < MAX_CORRELATED_COLUMNS:
        return None
    first, second = build.column("first"), build.column("second")
    is_first = build.compare("=", first, build.literal(own))
    draft.steps += [
        CorrelateStep(kind="correlate", columns=[own, *others]),
        build.keep(build.either([is_first, build.compare("=", second, build.literal(own))])),
        build.derive("column", build.case([(is_first, second)], first)),
        # The strongest correlation may be negative.
        build.derive("strength", build.call("abs", build.column("correlation"))),
        build.sort(("strength", True)),
        build.select(["column", "correlation", "rows"]),
    ]
    return draft


_CHANGES = "rise|rises|increase|increases|grow|grows|change|changes|fall|falls|drop|drops|go"
_SLOPES = (
    "slope of C=effect time|times|rate? on|over|against|versus|vs|by|per|with C=cause",
    "slope of C=effect as a? function of C=cause",
    f"by? how much does|do|did C=effect {_CHANGES} up|down? per|for|with"
    " each|every|an|one? additional|extra|more? C=cause",
)


def slope(reading: QuestionReading) -> Plan | None:
    """`slope of the price over the distance`: of the straight line that is nearest by least squares."""
    for phrase in _SLOPES:
        match = reading.text.find(phrase)
        effect, cause = (
            (reading.text.item(match, name) for name in ("effect", "cause")) if match else (None, None)
        )
        if match is None or effect is None or cause is None or not (_is_number(effect) and _is_number(cause)):
            continue
        reading.text.use(match.places, "figure")
        reading.text.take_any(
            ("over|across all E|C|U", "over|across everyone|everybody|everything", "overall"), "figure"
        )
        # Weeks and days are no measures, but something may rise with them.
        first, second = make_value(reading.column(effect, True)), make_value(reading.column(cause))
        reading.note("The slope is that of the straight line by least squares.")
        return plan_figures(reading, [Figure("slope", first, other=second)], Order())
    return None


def _is_number(item: QuestionItem) -> bool:
    """Tell if an item names a number, be it one that only orders rows."""
    return any(match.column.is_number for match in item.columns[:1])
