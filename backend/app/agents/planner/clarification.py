"""What the planner asks when goal and data leave it open, and how it reads the answers."""

from collections.abc import Sequence
from typing import Literal

from app.agents.goals.goal import Goal
from app.agents.goals.tables import Column
from app.agents.goals.target import CLEAR, Scored, TargetReading
from app.agents.planner.plan import MAX_CLASSES
from app.agents.planner.preferences import NAMING, Unknown
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.policy import AgentAction, call
from app.modeling.problem.kinds import ProblemKindName

WHICH_TARGET = "Which column should be predicted?"
WITHOUT_TIME = "Shall I go on without time?"
GO_ON = "go on"
NOTHING = "nothing, end here"
NEW_OR_KNOWN = "Will the model meet new ones or known ones?"
WHICH_TIME = "Which column orders the rows in time?"
DAY_OR_MONTH = "Does the day or the month come first?"
WHICH_KIND = "Is it a class or an amount?"

_KINDS: dict[str, ProblemKindName] = {"class": "classification", "amount": "regression"}


def ask_target(goal: Goal, reading: TargetReading, several_tables: bool) -> AgentAction:
    """Where the goal only looks there is a way out; it is the default where the goal wants no model."""
    names = [_shown(option, several_tables) for option in reading.options]
    ways = [*names, NOTHING] if goal.looks else names
    return call(
        "ask_user",
        message="The goal does not settle what to predict.",
        question=f"{WHICH_TARGET} {_why(goal, reading)}",
        options=ways,
        default=NOTHING if goal.wants_no_model else names[0],
    )


def _why(goal: Goal, reading: TargetReading) -> str:
    if reading.unfit:
        kind, distinct = reading.unfit.hint, reading.unfit.distinct
        return f"`{reading.unfit.name}` ({kind}, {distinct} different values) leaves little to learn."
    if goal.looks:
        return (
            "The goal asks to look at the data. I look at it around one column: what goes with it, drawn and"
            " tested, and a model of it."
        )
    if reading.options[0].score >= CLEAR:
        return "The goal could mean any of these."
    return "The goal names none of the columns clearly; the likeliest comes first."


def target_answer(view: ConversationView) -> str | None:
    return _answer(view, WHICH_TARGET)


def ask_kind(column: Column) -> AgentAction:
    if column.distinct > MAX_CLASSES:
        return call(
            "ask_user",
            message=f"`{column.name}` is an amount, and the goal asks for classes.",
            question=f"{WHICH_KIND} Classes of `{column.name}` could be above or below {column.middle}.",
            options=["amount", "class"],
            default="amount",
        )
    return call(
        "ask_user",
        message=f"`{column.name}` has {column.distinct} whole-number values.",
        question=f"{WHICH_KIND} `{column.name}` holds {column.distinct} different whole numbers.",
        options=list(_KINDS),
        default="class",
    )


def ask_timeless(column: Column) -> AgentAction:
    return call(
        "ask_user",
        message="The goal looks ahead, and nothing in the table says when.",
        question=f"{WITHOUT_TIME} The goal looks ahead in time, but no column holds dates. I can only tell"
        f" `{column.name}` of a row from the row's other columns.",
        options=[GO_ON, NOTHING],
        default=GO_ON,
    )


def timeless_answer(view: ConversationView) -> str | None:
    return _answer(view, WITHOUT_TIME)


WELL_KNOWN = 20
"""Rows each from which a model rather meets the same ones again."""


def ask_entities(column: Column, rows: int) -> AgentAction:
    each = rows / column.distinct
    return call(
        "ask_user",
        message=f"`{column.name}` repeats.",
        question=f"{NEW_OR_KNOWN} `{column.name}` has {column.distinct:,} values, {each:.1f} rows each. For new"
        " ones a model is judged on some that it has never seen; for known ones it may learn their habits.",
        options=["new ones", "known ones"],
        default="known ones" if each >= WELL_KNOWN else "new ones",
    )


def entities_answer(view: ConversationView) -> Literal["new", "known"] | None:
    return _ENTITIES.get(_answer(view, NEW_OR_KNOWN) or "")


_ENTITIES: dict[str, Literal["new", "known"]] = {"new ones": "new", "known ones": "known"}


def ask_time(dates: Sequence[Column]) -> AgentAction:
    names = [column.name for column in dates]
    listed = ", ".join(f"`{name}`" for name in names)
    return call(
        "ask_user",
        message="Several columns hold dates.",
        question=f"{WHICH_TIME} The goal looks ahead, and {listed} hold dates.",
        options=names,
        default=names[0],
    )


def time_answer(view: ConversationView) -> str | None:
    return _answer(view, WHICH_TIME)


def ask_order(dates: Sequence[Column]) -> AgentAction:
    names = ", ".join(f"`{column.name}`" for column in dates)
    return call(
        "ask_user",
        message=f"The dates in {names} can be read in two ways.",
        question=f"{DAY_OR_MONTH} No value of {names} tells: 03/04/2024 may be in April or in March.",
        options=list(_ORDERS),
        default="month first",
    )


def order_answer(view: ConversationView) -> str | None:
    """`day_first` or `month_first`."""
    return _ORDERS.get(_answer(view, DAY_OR_MONTH) or "")


_ORDERS = {"month first": "month_first", "day first": "day_first"}


def kind_answer(view: ConversationView) -> ProblemKindName | None:
    return _KINDS.get(_answer(view, WHICH_KIND) or "")


def ask_wish(unknown: Unknown) -> AgentAction:
    return call(
        "ask_user",
        message=f"The preference {unknown.key} names a column that is not there.",
        question=f"{_wish(unknown.key)} There is no column {unknown.name!r}.",
        options=list(unknown.options),
        default=unknown.options[0],
    )


def wish_answers(view: ConversationView) -> dict[str, str]:
    answers = {key: _answer(view, _wish(key)) for key in NAMING}
    return {key: answer for key, answer in answers.items() if answer is not None}


def _wish(key: str) -> str:
    return f"Which column is meant as {key}?"


def matching(answer: str, options: Sequence[Scored]) -> Scored | None:
    """The option that an answer names, with or without its table."""
    return next((o for o in options if answer in (_shown(o, True), _shown(o, False))), None)


def _shown(option: Scored, several_tables: bool) -> str:
    return f"{option.table.name}.{option.column.name}" if several_tables else option.column.name


def _answer(view: ConversationView, question: str) -> str | None:
    for answered in view.successes("ask_user"):
        if str(answered.arguments.get("question", "")).startswith(question):
            return str(answered.value["answer"])
    return None
