"""Plans of rankings of rows and of groups."""

from collections.abc import Sequence

from app.agents.goals.words.tokenizer import words
from app.agents.questions.frames.group_figures import values_of, with_parts
from app.agents.questions.question_reading import QuestionReading, Value
from app.agents.questions.rows_plan import Figure, start_plan
from app.plans import build
from app.plans.plan import Plan

NAMES = frozenset({"name", "title", "label"})
"""Words of columns that name rows, however long their texts are."""
IDENTIFIERS = frozenset({"id", "no", "nr", "number", "key"})
"""Words of whole numbers that name rows."""
MAX_SHOWN_COLUMNS = 12
"""Columns of a row that are shown whole; of wider tables the name and the measure."""


def rank_groups(
    reading: QuestionReading,
    keys: list[Value],
    figure: Figure,
    descending: bool,
    count: int,
    base: str | None = None,
) -> Plan:
    """The first groups by a figure; for one of them, all with the same figure."""
    draft = start_plan(reading, [*keys, *values_of([figure])], base)
    draft.present([figure])
    orders = draft.group(keys, [figure])
    names = [draft.name_of(key) for key in keys]
    # For one of them a rank is kept and no limit: two groups that share the first place are both the answer.
    if count == 1:
        draft.steps += [build.window("rank", "rank", order=[(figure.name, descending)])]
        draft.keep(build.compare("=", build.column("rank"), build.literal(1)))
        draft.steps.append(build.sort(*((name, False) for name in orders)))
        draft.select([*names, *(part.name for part in with_parts([figure]))])
        return draft.plan()
    draft.steps += [
        build.sort((figure.name, descending), *((name, False) for name in orders)),
        build.limit(count),
    ]
    if orders != names or figure.parts:
        draft.select([*names, *(part.name for part in with_parts([figure]))])
    return draft.plan()


def rank_rows(
    reading: QuestionReading,
    value: Value,
    descending: bool,
    count: int,
    place: int = 1,
    details: Sequence[Value] = (),
) -> Plan:
    """The first rows by a value, with what names them; for one of them, all with the same value.

    `details`: further values of each row that the question asks for.
    """
    draft = start_plan(reading, [value, *details])
    measure = draft.name_of(value)
    # A row without a value has no place in the order; DuckDB would put it last.
    draft.steps.append(build.keep(build.is_present(build.column(measure))))
    displayed = shown_columns(reading, draft.source.base, [*map(draft.name_of, details), measure])
    if count == 1 and not reading.keys:
        draft.steps.append(
            build.window("rank", "dense_rank" if place > 1 else "rank", order=[(measure, descending)])
        )
        draft.keep(build.compare("=", build.column("rank"), build.literal(place)))
        draft.steps.append(build.sort((displayed[0], False)))
    elif reading.keys:
        keys = [draft.name_of(key) for key in reading.keys]
        displayed = list(dict.fromkeys([*keys, *displayed]))
        # Rows without a group are no group of their own, as in figures of groups.
        unsure = [key for key in reading.keys if key.reference is None or key.reference.column.missing > 0]
        for key in unsure:
            draft.keep(build.is_present(build.column(draft.name_of(key))))
        draft.steps.append(build.window("rank", "rank", within=keys, order=[(measure, descending)]))
        draft.keep(build.compare("<=", build.column("rank"), build.literal(count)))
        draft.steps.append(build.sort(*((key, False) for key in keys), (measure, descending)))
    else:
        draft.steps += [build.sort((measure, descending)), build.limit(count)]
    draft.select(displayed)
    return draft.plan()


def shown_columns(reading: QuestionReading, table: str, measures: list[str]) -> list[str]:
    """Columns that say which row it is: those that name it, then dates, then the measures; else all."""
    columns = reading.scope.stored_columns(table)
    names = [
        c.name
        for c in columns
        if c.unique
        and (
            (c.type == "text" and (c.hint != "text" or NAMES & set(words(c.name))))
            or (c.type == "integer" and (c.hint == "id" or IDENTIFIERS & set(words(c.name))))
        )
    ]
    # A name tells a reader more than a number.
    names.sort(key=lambda name: name.casefold().endswith("id"))
    if not names:
        names = [c.name for c in columns if NAMES & set(words(c.name))][:1]
    dates = [c.name for c in columns if c.type == "datetime" and not c.is_stored_as_text]
    dates += [c.name for c in columns if c.name.casefold() in ("year", "month", "day") and c.is_number]
    if not names:
        # What names the rows is not known: a swimmer's race is told by all of its columns.
        others = [c.name for c in columns if c.name not in (*measures, *dates)][:MAX_SHOWN_COLUMNS]
        return list(dict.fromkeys([*dates, *others, *measures]))
    return list(dict.fromkeys([*names, *dates, *measures]))
