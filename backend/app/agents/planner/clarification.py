"""The planner's questions to the user, and the meanings of the offered answers."""

from collections.abc import Sequence
from typing import Literal

from app.agents.goals.columns.target import MIN_CLEAR_SCORE, ScoredColumn, TargetMatch
from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.phrases.thresholds import Threshold
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.planner.output import ColumnType
from app.agents.planner.plan import MAX_CLASSES
from app.agents.planner.preferences import NO_COLUMN_OPTION, ColumnPreference, UnknownColumn
from app.agents.planner.unread_phrases import UnreadPhrase
from app.agents.planner.value_descriptions import describe_values
from app.agents.runtime.offline_policy import AgentAction, call
from app.modeling.problem.kinds import ProblemKindName

WHICH_TARGET = "Which column should be predicted?"
WITHOUT_DATES = "Shall I go on without time?"
CONTINUE = "go on"
STOP = "nothing, end here"
NEW_OR_KNOWN = "Will the model meet new ones or known ones?"
WHICH_MEASURE = "What should be forecast?"
WHICH_TIME = "Which column orders the rows in time?"
DAY_OR_MONTH = "Does the day or the month come first?"
WHICH_KIND = "Is it a class or an amount?"
WHICH_BOUND = "What does the number of the goal compare?"
AMOUNT = "nothing, predict the amount"
WHICH_ROWS = "Which rows does the goal mean?"
PHRASE_ROWS = "Which rows are meant by"
ALL_ROWS = "all rows"

KINDS: dict[str, ProblemKindName] = {"class": "classification", "amount": "regression"}
ENTITIES: dict[str, Literal["new", "known"]] = {"new ones": "new", "known ones": "known"}
DATE_ORDERS: dict[str, ColumnType] = {"month first": "month_first", "day first": "day_first"}
"""Meanings of the offered answers."""


def ask_target(match: TargetMatch, several_tables: bool, reason: str) -> AgentAction:
    """Ask for the target, which has no default. `reason`: why the goal does not determine it."""
    options = suggested_targets(match)
    names = [_option_name(option, several_tables) for option in options]
    examples = "; ".join(
        f"`{name}`: {described}"
        for name, option in zip(names[:MAX_DESCRIBED], options, strict=False)
        if (described := describe_values(option.column))
    )
    hint = "Any column will do, a comparison (`column > 15`), or other words."
    return call(
        "ask_user",
        message="The goal does not determine what to predict.",
        question=" ".join(filter(None, [WHICH_TARGET, reason, f"{examples}." if examples else "", hint])),
        options=names,
        free_text=True,
        needs_answer=True,
    )


MAX_DESCRIBED = 4
"""Options that are described by examples: as many as a user reads."""


def suggested_targets(match: TargetMatch) -> list[ScoredColumn]:
    """Return the columns that a question or a refusal suggests: without one that the reason just refused."""
    return [option for option in match.options if option.column != match.unsuitable]


def describe_target_reason(match: TargetMatch, unread: Sequence[str]) -> str:
    """Say why the goal does not determine its target. `unread`: what it asks for that is in no table."""
    if unread:
        return f"No column or value of the tables is called {' or '.join(map(repr, unread))}."
    if match.unsuitable:
        kind, distinct = match.unsuitable.hint, match.unsuitable.distinct
        if distinct <= 1:
            return f"`{match.unsuitable.name}` is the same in every row, so there is nothing to learn."
        return f"`{match.unsuitable.name}` ({kind}, {distinct} different values) leaves little to learn."
    suggested = suggested_targets(match)
    if suggested and suggested[0].score >= MIN_CLEAR_SCORE:
        return "The goal could mean any of these."
    return "The goal names none of the columns clearly; the likeliest comes first."


def ask_kind(column: Column) -> AgentAction:
    if column.distinct > MAX_CLASSES:
        return call(
            "ask_user",
            message=f"`{column.name}` is an amount, and the goal asks for classes.",
            question=f"{WHICH_KIND} Classes of `{column.name}` could be above or below {column.median}.",
            options=["amount", "class"],
            needs_answer=True,
        )
    return call(
        "ask_user",
        message=f"`{column.name}` has {column.distinct} whole-number values.",
        question=f"{WHICH_KIND} `{column.name}` holds {column.distinct} different whole numbers.",
        options=list(KINDS),
        needs_answer=True,
    )


def ask_bound(column: Column, bound: Threshold, table: TableProfile) -> AgentAction:
    """Ask what a bound of the goal is about: the target, in the unit of its column, the rows or nothing."""
    sign = (">" if bound.above else "<") + ("=" if bound.is_inclusive else "")
    unit = f" {bound.unit or bound.noun}" if bound.unit or bound.noun else ""
    comparisons = [f"{column.name} {sign} {bound.value:g}"] if column.spans(bound.value) else []
    if bound.describes_rows:
        comparisons += [f"{name} {sign} {bound.value:g}" for name in _compared_names(column, bound, table)]
    return call(
        "ask_user",
        message="The goal has a bound, and the plan would not use it.",
        question=f"{WHICH_BOUND} The goal says {'above' if bound.above else 'below'} {bound.value:g}{unit};"
        f" `{column.name}` goes from {column.low} to {column.high}. A comparison of `{column.name}` predicts on"
        " which side of it a row is, and one of another column selects the rows.",
        options=[*comparisons, AMOUNT],
        free_text=True,
        needs_answer=True,
    )


def ask_rows(conditions: Sequence[RowCondition]) -> AgentAction:
    """Ask which of several conditions selects the rows of a value that more than one column has."""
    return call(
        "ask_user",
        message=f"Several columns have the value {conditions[0].values[0]!r}.",
        question=rows_question(conditions),
        options=[*(condition.description for condition in conditions), ALL_ROWS],
        needs_answer=True,
    )


def ask_phrase(phrase: UnreadPhrase) -> AgentAction:
    """Ask which rows a phrase of the goal means that the tables do not tell."""
    return call(
        "ask_user",
        message=f"The goal restricts its rows by {phrase.text!r}, and the plan would not use it.",
        question=f"{which_phrase(phrase.text)} No column or value has all of its words. A comparison"
        " (`column > 15`) or a value selects rows.",
        options=[*(condition.description for condition in phrase.candidates), ALL_ROWS],
        free_text=True,
        needs_answer=True,
    )


def which_phrase(phrase: str) -> str:
    return f"{PHRASE_ROWS} {phrase!r}?"


def rows_question(conditions: Sequence[RowCondition]) -> str:
    names = " and of ".join(f"`{condition.column}`" for condition in conditions)
    return f"{WHICH_ROWS} {conditions[0].values[0]!r} is a value of {names}."


MAX_COMPARED = 3
"""Columns besides the target that a question about a bound offers."""


def _compared_names(target: Column, bound: Threshold, table: TableProfile) -> list[str]:
    """Return the names of other numbers that a bound may compare, counts of few values first."""
    columns = [
        column
        for column in table.columns
        if column.is_number and column.name != target.name and column.hint != "id" and column.spans(bound.value)
    ]
    ranked = sorted(columns, key=lambda column: (column.type != "integer", column.distinct))
    return [column.name for column in ranked if column.distinct > 2][:MAX_COMPARED]


def ask_without_dates(column: Column) -> AgentAction:
    return call(
        "ask_user",
        message="The goal looks ahead, and the table has no dates.",
        question=f"{WITHOUT_DATES} The goal looks ahead in time, but no column holds dates. I can only predict"
        f" `{column.name}` of a row from the row's other columns.",
        options=[CONTINUE, STOP],
        needs_answer=True,
    )


def ask_measure(unread: Sequence[str], measures: Sequence[str]) -> AgentAction:
    """Ask what a forecast measures of whose goal the words `unread` have to do with no column or value."""
    listing = ", ".join(f"'{word}'" for word in unread)
    return call(
        "ask_user",
        message=f"Nothing is known of {listing}.",
        question=f"{WHICH_MEASURE} No column or value of the table has to do with {listing}. Choose what comes"
        " nearest, or say it in other words.",
        options=[*measures, STOP],
        free_text=True,
        needs_answer=True,
    )


def ask_time(dates: Sequence[Column]) -> AgentAction:
    names = [column.name for column in dates]
    listing = ", ".join(f"`{name}`" for name in names)
    return call(
        "ask_user",
        message="Several columns hold dates.",
        question=f"{WHICH_TIME} The goal looks ahead, and {listing} hold dates.",
        options=names,
        default=names[0],
    )


def ask_date_order(dates: Sequence[Column]) -> AgentAction:
    names = ", ".join(f"`{column.name}`" for column in dates)
    return call(
        "ask_user",
        message=f"The dates in {names} can be read in two ways.",
        question=f"{DAY_OR_MONTH} No value of {names} tells: 03/04/2024 may be in April or in March.",
        options=list(DATE_ORDERS),
        default="month first",
    )


def ask_preference(unknown: UnknownColumn) -> AgentAction:
    return call(
        "ask_user",
        message=f"The preference {unknown.key} names a column that does not exist.",
        question=f"{which_column(unknown.key)} There is no column {unknown.name!r}.",
        options=list(unknown.options),
        needs_answer=True,
    )


def describe_unknown(unknown: UnknownColumn) -> str:
    """Return the refusal of a preference that names no column, with what it could mean."""
    options = ", ".join(f"`{name}`" for name in unknown.options if name != NO_COLUMN_OPTION)
    role = unknown.key.replace("_", " ")
    return f"There is no column {unknown.name!r}, which {role} names. Name another one: {options}."


def which_column(key: ColumnPreference) -> str:
    return f"Which column is meant as {key}?"


def match_option(answer: str, options: Sequence[ScoredColumn]) -> ScoredColumn | None:
    """Return the option that an answer names, with or without its table."""
    return next((o for o in options if answer in (_option_name(o, True), _option_name(o, False))), None)


def _option_name(option: ScoredColumn, several_tables: bool) -> str:
    return f"{option.table.name}.{option.column.name}" if several_tables else option.column.name
