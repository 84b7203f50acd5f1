"""Lists of rows, of values, and single values of the rows that a question describes."""

from app.agents.questions.frames.ranked import shown_columns
from app.agents.questions.grouping import display_reference
from app.agents.questions.items import QuestionItem
from app.agents.questions.ordering import as_count
from app.agents.questions.question_reading import QuestionReading, make_value
from app.agents.questions.rows_plan import Figure, start_plan
from app.plans import build
from app.plans.plan import Plan, SampleStep

LISTING_QUALITY = 0.7
"""Strength of a list of rows against a figure: any words that name columns and values can be read as one."""
MIN_LISTED_SCORE = 0.6
"""Score of a column that is shown because the question names it."""
DEFAULT_ROWS = 10
"""Rows that are shown where no number is asked for."""


def first_rows(reading: QuestionReading) -> Plan | None:
    """`show me the first 8 rows`, `last 5 orders`, `a random sample of 10 rows`."""
    rows = "row|rows|record|records|line|lines|entries|observations|E"
    text = reading.text
    match = text.take(f"first N=count {rows}=rows", "figure") or text.take(
        f"first few|rows|records|lines {rows}?=rows", "figure"
    )
    is_last = is_sample = False
    if match is None and (match := text.take(f"last|final|latest N=count {rows}=rows", "figure")):
        is_last = True
    if match is None and (
        match := text.take(f"random sample? of? N?=count {rows}?=rows", "figure")
        or text.take(f"N=count random {rows}?=rows", "figure")
        or text.take(f"sample of? N=count {rows}?=rows", "figure")
    ):
        is_sample = True
    if match is None and not (
        match := text.take(f"preview|head of? {rows}?=rows", "figure")
        or text.take(f"some|few|sample {rows}=rows", "figure")
    ):
        return None
    count = as_count(text.item(match, "count")) or DEFAULT_ROWS
    draft = start_plan(reading)
    if is_sample:
        draft.steps.append(SampleStep(kind="sample", rows=count))
    elif is_last:
        dates = [
            c
            for c in reading.scope.stored_columns(draft.source.base)
            if c.type == "datetime" and not c.is_stored_as_text
        ]
        if not dates:
            return None
        reading.note(f"The last rows are those with the latest `{dates[0].name}`.")
        draft.steps += [build.sort((dates[0].name, True)), build.limit(count)]
    else:
        draft.steps.append(build.limit(count))
    return draft.plan()


def distinct_values(reading: QuestionReading) -> Plan | None:
    """`which islands are there`, `list the classes`, `what values does type have`."""
    match = (
        reading.text.find(
            "which|what different|distinct|unique? C=column values? @is|do there|we|exist|present|"
            "covered|in|have?"
        )
        or reading.text.find(
            "list|show|give me? all|of|different|distinct|unique? different|distinct|unique? values? "
            "of? C=column"
        )
        or reading.text.find("different|distinct|unique values? of|in? C=column")
        or reading.text.find("what values does C=column have|take")
    )
    item = reading.text.item(match, "column") if match else None
    if match is None or item is None or item.columns[0].column.type == "datetime":
        return None
    if reading.keys or (item.columns[0].score < 0.6):
        return None
    following = [i for i in reading.text.items[match.places[-1] + 1 :] if not i.role and i.columns]
    if following or (item.row_tables and item.columns[0].column.unique):
        return None
    reading.text.use(match.places, "figure")
    key = make_value(reading.column(item))
    draft = start_plan(reading, [key])
    draft.group([key], [Figure("count", label="rows")])
    draft.steps.append(build.sort(("rows", True), (draft.name_of(key), False)))
    return draft.plan()


def list_rows(reading: QuestionReading) -> Plan | None:
    """`flights to Denver`, `names of states starting with New`, `on which floor does Ruth Adler sit`."""
    if not (reading.conditions or reading.means) or reading.keys:
        return None
    text = reading.text
    text.take_any(("list|show|give|display|find me? all|every?", "which|what", "who", "names? of"), "figure")
    requested: list[QuestionItem] = []
    place = 0
    while match := text.find("C=column", place):
        item = text.required(match, "column")
        place = match.places[-1] + 1
        if item.columns[0].score < MIN_LISTED_SCORE:
            continue
        text.use(match.places, "figure")
        requested.append(item)
    rows = text.take("E=rows", "figure")
    while text.take("E", "figure"):
        pass
    if not requested and rows is None and not _lists(reading):
        return None
    reading.quality *= LISTING_QUALITY
    values = [make_value(display_reference(reading, reading.column(item))) for item in requested]
    draft = start_plan(reading, values)
    names = [draft.name_of(value) for value in values]
    own = shown_columns(reading, draft.source.base, names)
    if requested and not text.has("E"):
        compared = [draft.name_of(make_value(c.column)) for c in reading.conditions if c.column]
        own = list(dict.fromkeys([*names, *[n for n in own if n not in names][:1], *compared]))
        if not rows and not _lists(reading):
            own = list(dict.fromkeys([*names, *compared]))
    if len(draft.source.joined) == 0 and not requested:
        own = list(dict.fromkeys([*own, *(c.name for c in reading.scope.stored_columns(draft.source.base))]))
    draft.select(own)
    return draft.plan()


def _lists(reading: QuestionReading) -> bool:
    first = next((item.text for item in reading.text.items if item.kind == "word"), "")
    return first in ("which", "who", "list", "show", "name", "find", "give", "names", "where", "when")


def any_rows(reading: QuestionReading) -> Plan | None:
    """`are there any orders above 500`: yes or no, with their number."""
    match = (
        reading.text.find("is|are|was|were there any|a? E?=rows")
        or reading.text.find("do|does|did any E=rows")
        or reading.text.find("is|are|was|were|has|have any E=rows")
    )
    if match is None or not reading.conditions:
        return None
    reading.text.use(match.places, "figure")
    while reading.text.take("E", "figure"):
        pass
    draft = start_plan(reading)
    draft.group([], [Figure("count", label="rows")])
    draft.steps.append(build.derive("any", build.compare(">", build.column("rows"), build.literal(0))))
    draft.select(["any", "rows"])
    return draft.plan()
