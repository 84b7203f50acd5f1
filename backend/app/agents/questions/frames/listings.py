"""Lists of rows, of values, and single values of the rows that a question describes."""

from app.agents.questions.ordering import as_count
from app.agents.questions.question_reading import QuestionReading
from app.agents.questions.rows_plan import start_plan
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
        # Stored rows have no order of their own: without a time none of them is the last.
        if not dates:
            return None
        reading.note(f"The last rows are those with the latest `{dates[0].name}`.")
        draft.steps += [build.sort((dates[0].name, True)), build.limit(count)]
    else:
        draft.steps.append(build.limit(count))
    return draft.plan()
