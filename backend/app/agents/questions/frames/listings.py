"""Lists of rows, of values, and single values of the rows that a question describes."""

from app.agents.questions.ordering import as_count
from app.agents.questions.question_reading import QuestionReading
from app.agents.questions.rows_plan import PlanDraft, start_plan
from app.plans import build
from app.plans.plan import Plan, SampleStep

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
        if dates:
            reading.note(f"The last rows are those with the latest `{dates[0].name}`.")
            draft.steps += [build.sort((dates[0].name, True)), build.limit(count)]
        else:
            _keep_last_stored(reading, draft, count)
    else:
        draft.steps.append(build.limit(count))
    return draft.plan()


def _keep_last_stored(reading: QuestionReading, draft: PlanDraft, count: int) -> None:
    """Keep the rows that stand last in the table, in their order: no time says which are the last."""
    reading.note("The last rows are those at the end of the table as it was uploaded.")
    names = [column.name for column in reading.scope.stored_columns(draft.source.base)]
    number = next(name for name in _ROW_NUMBERS if name not in names)
    draft.steps += [build.window(number, "row_number"), build.sort((number, True)), build.limit(count)]
    draft.steps.append(build.sort((number, False)))
    draft.select(names)


_ROW_NUMBERS = ("row", "row number", "number of the row")
"""Names of the column that numbers the rows, of which a table may have one."""
