"""Frames of cumulative shares: groups from the largest on, and those that make up a part of the whole."""

from app.agents.questions.items import QuestionItem
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import QuestionReading, is_measurable, make_value
from app.agents.questions.rows_plan import Figure, PlanDraft, start_plan
from app.plans import build
from app.plans.plan import Plan

_SHARE = "cumulative|cumulated|running share|shares|percentage|percent|pct|%"
_PARETO = "pareto chart|analysis|diagram|plot|table?"
_LISTS = (
    f"{_PARETO} of|for C=key by|in|with? total? C=measure and|with? ,? {_SHARE}",
    f"{_PARETO} of|for C=key by|in|with? number? of? E=rows and|with? ,? {_SHARE}",
    f"{_PARETO} of|for C=key by total? C=measure",
    f"{_PARETO} of|for C=key",
    f"total? C=measure by|per C=key and|with|,? and|with? {_SHARE}",
    f"C=key number|count of E=rows and|with|,? and|with? {_SHARE}",
    f"number|count of E=rows by|per C=key and|with|,? and|with? {_SHARE}",
)
_MAKE = "make|makes|account|accounts|bring|brings|cover|covers|generate|generates"
_PARTS = (
    f"which|what C=key {_MAKE} up|for|in? N=part %|percent|pct of all? total? C=measure",
    f"which|what C=key {_MAKE} up|for|in? N=part %|percent|pct of all? E|volume|cases=rows",
    f"which|what C=key {_MAKE} up|for|in? half=half of all? total? C=measure",
    f"which|what C=key {_MAKE} up|for|in? half=half of all? E|volume|cases=rows",
)
_ENDS = ("most|largest|biggest|highest first", "in? descending order?")
CUMULATIVE = "cumulative share"
"""Column of the share of a group and all larger ones."""


def cumulative_shares(reading: QuestionReading) -> Plan | None:
    """`pareto of causes by minutes`, `cost by ward with cumulative share`."""
    for phrase in _LISTS:
        if match := reading.text.find(phrase):
            if (draft := _grouped(reading, match)) is None:
                continue
            reading.text.use(match.places, "figure")
            reading.text.take_any(_ENDS, "order")
            return draft.plan()
    return None


def largest_groups(reading: QuestionReading) -> Plan | None:
    """`which products make up 80 percent of the revenue`: the largest groups, until they reach that part."""
    for phrase in _PARTS:
        match = reading.text.find(phrase)
        number = reading.text.item(match, "part") if match else None
        share = 0.5 if number is None else (number.number or 0.0) / 100
        draft = _grouped(reading, match) if match is not None and 0 < share < 1 else None
        if match is None or draft is None:
            continue
        reading.text.use(match.places, "figure")
        reading.note("The groups are taken from the largest on, until they reach that part together.")
        # The group by which the part is reached belongs to them.
        before = build.arithmetic("-", build.column(CUMULATIVE), build.column("share"))
        last = draft.steps.pop()
        draft.keep(build.compare("<", before, build.literal(share)))
        draft.steps.append(last)
        return draft.plan()
    return None


def _grouped(reading: QuestionReading, match: PhraseMatch) -> PlanDraft | None:
    """The figure of each group with its share and the cumulative one, from the largest group on."""
    key_item, measure = reading.text.item(match, "key"), reading.text.item(match, "measure")
    if key_item is None or is_measurable(key_item.columns[0].column):
        return None
    key = reading.value(key_item)
    figure = _figure(reading, measure) if measure is not None else Figure("count", label="rows")
    if figure is None:
        return None
    draft = start_plan(reading, [key, *([figure.value] if figure.value else [])])
    draft.present([figure])
    draft.group([key], [figure])
    name = draft.name_of(key)
    order = [(figure.name, True), (name, False)]
    draft.steps.append(build.window("share", "share", figure.name))
    draft.steps.append(build.window(CUMULATIVE, "cumulative_sum", "share", order=order))
    draft.steps.append(build.sort(*order))
    draft.select([name, figure.name, "share", CUMULATIVE])
    return draft


def _figure(reading: QuestionReading, item: QuestionItem) -> Figure | None:
    """The total of a measure, of which alone the groups are parts."""
    if not any(is_measurable(match.column) for match in item.columns):
        return None
    return Figure("sum", make_value(reading.column(item, True)))
