"""Counts of rows, of different values, and of groups that meet a condition."""

from app.agents.goals.vocabulary import word_set
from app.agents.questions.figures import count_figure, entity_key
from app.agents.questions.frames.grouped import plan_figures
from app.agents.questions.grammar_words import COMPARATIVES
from app.agents.questions.grouping import name_column
from app.agents.questions.items import QuestionItem
from app.agents.questions.ordering import take_order
from app.agents.questions.question_reading import QuestionReading, make_value
from app.agents.questions.rows_plan import Figure, start_plan
from app.agents.questions.scope import Reference
from app.plans import build
from app.plans.plan import DatasetSource, JoinKey, JoinStep, Plan

_COUNTING = "how many|number of|count of"
_PHRASES = (
    "how many E=rows",
    "number|count|counts|numbers|amount of E=rows",
    "E=rows count|counts|numbers",
    "count E=rows",
    "how many W?=modifier E=rows",
    "how often",
    "how many C=column",
    "number|count|counts of C=column",
    "how many of",
    "how many",
    "headcount",
    "count them|rows?",
    "number|count|counts of?",
    "frequency|frequencies|tally of?",
)


def count_rows(reading: QuestionReading) -> Plan | None:
    """`how many orders`, `number of rows by class`, `how many different cities`."""
    if different := reading.text.take_any(
        (
            "how many different|distinct|unique C=column",
            "number|count of different|distinct|unique C=column",
            "different|distinct|unique C=column count",
            "count different|distinct|unique C=column",
        ),
        "figure",
    ):
        column = reading.column(reading.text.required(different, "column"))
        return plan_figures(reading, [Figure("count_distinct", make_value(column))], take_order(reading))
    match = reading.text.take_any(_PHRASES, "figure")
    if match is None:
        return None
    item = reading.text.item(match, "rows") or reading.text.item(match, "column")
    figure, base = count_figure(reading, item)
    return plan_figures(reading, [figure], take_order(reading), base)


def count_groups(reading: QuestionReading) -> Plan | None:
    """`how many customers have more than 3 orders`, `customers with at least 2 orders`."""
    for words_, sign in COMPARATIVES.items():
        for phrase in (
            f"E|C=group who|that? W? {words_} N|one=number U? E=rows",
            f"E|C=group who|that? W? W? {words_} once=number",
        ):
            match = reading.text.find(phrase)
            if match is None:
                continue
            group, number = reading.text.item(match, "group"), reading.text.item(match, "number")
            rows = reading.text.item(match, "rows")
            key = group_key(reading, group, rows) if group else None
            if key is None or number is None:
                continue
            is_counted = reading.text.take_any(("how many", "number|count of"), "figure") is not None
            reading.text.use(match.places, "figure")
            base = rows.row_tables[0] if rows else key.table
            draft = start_plan(reading, [make_value(key)], base)
            draft.group([make_value(key)], [Figure("count", label="rows")])
            count = build.literal(int(number.number) if number.number is not None else 1)
            draft.steps.append(build.keep(build.compare(sign, build.column("rows"), count)))  # type: ignore[arg-type]
            if is_counted:
                draft.steps.append(
                    build.group(
                        [], [build.aggregation(f"number of {group.word if group else 'groups'}", "count")]
                    )
                )
            else:
                draft.steps.append(build.sort(("rows", True), (draft.name_of(make_value(key)), False)))
            return draft.plan()
    return None


def group_key(reading: QuestionReading, group: QuestionItem, rows: QuestionItem | None) -> Reference | None:
    """The column of the counted rows' table that says which group a row belongs to."""
    tables = [*(rows.row_tables[:1] if rows else ()), *reading.main_tables]
    for table in dict.fromkeys(tables):
        if (
            group.row_tables
            and group.row_tables[0] != table
            and (link := reading.scope.link(table, group.row_tables[0]))
        ):
            column = reading.scope.table(table).column(link.foreign_key)
            return Reference(table, column) if column else None
        for candidate in group.columns:
            if candidate.table == table and not candidate.column.unique:
                return Reference(table, candidate.column)
        if key := entity_key(reading, group.word, table):
            return key
    return None


def count_unmatched(reading: QuestionReading) -> Plan | None:
    """`customers without orders`, `stations nobody started from`, `products never sold`."""
    negation = reading.text.find("without|no|never|nobody|none|nothing")
    main = reading.main_tables
    if negation is None or len(reading.scope.tables) < 2 or not main:
        return None
    single = main[0]
    links = [
        link
        for link in reading.scope.links
        if link.single == single and (len(main) < 2 or link.many in main[1:])
    ]
    if not links:
        return None
    link = links[0]
    column = reading.scope.table(single).column(link.key)
    if column is None:
        return None
    is_counted = reading.text.take_any(("how many", "number|count of"), "figure") is not None
    for item_place, item in enumerate(reading.text.items):
        if (
            item.row_tables
            or item.word in ("without", "no", "never", "not", "nobody", "none", "any")
            or (item.columns and any(m.key == (link.many, link.foreign_key) for m in item.columns))
        ):
            reading.text.use([item_place], "figure")
    _absorb_verbs(reading)
    draft = start_plan(reading, [], single)
    many = DatasetSource(kind="dataset", table=link.many)
    draft.steps.append(
        JoinStep(kind="join", source=many, on=[JoinKey(left=link.key, right=link.foreign_key)], how="anti")
    )
    if is_counted:
        draft.group([], [Figure("count", label=f"number of {single}")])
    else:
        name = name_column(reading.scope.table(single).columns, link.key)
        names = [*([name.name] if name else []), link.key]
        draft.select(names)
        draft.steps.append(build.sort((names[0], False)))
    reading.note(f"Rows of `{single}` that no row of `{link.many}` belongs to are meant.")
    return draft.plan()


_EVENT_VERBS = word_set(
    """
    started began used sold ordered bought rented visited subscribed placed made booked returned
    anything ever anyone borrowed watched played reviewed rated hired assigned gone purchased to from
    """
)


def _absorb_verbs(reading: QuestionReading) -> None:
    for place, item in enumerate(reading.text.items):
        if item.text in _EVENT_VERBS and not item.role:
            reading.text.use([place], "figure")
