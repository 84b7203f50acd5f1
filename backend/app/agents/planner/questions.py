"""What the planner asks when goal and data leave it open, and how it reads the answers."""

from collections.abc import Sequence

from app.agents.conversation import View
from app.agents.planner.phrases import Kind
from app.agents.planner.plan import MOST_CLASSES
from app.agents.planner.tables import Column
from app.agents.planner.target import Scored
from app.agents.planner.wishes import NAMING, Unknown
from app.agents.policy import Move, call

WHICH_TARGET = "Which column should be predicted?"
WHICH_KIND = "Is it a class or an amount?"

_KINDS: dict[str, Kind] = {"class": "classification", "amount": "regression"}


def ask_target(options: Sequence[Scored], several_tables: bool) -> Move:
    names = [_shown(option, several_tables) for option in options]
    return call(
        "ask_user",
        says="The goal does not settle what to predict.",
        question=f"{WHICH_TARGET} The goal could mean any of these.",
        options=names,
        default=names[0],
    )


def target_answer(view: View) -> str | None:
    return _answer(view, WHICH_TARGET)


def ask_kind(column: Column) -> Move:
    if column.distinct > MOST_CLASSES:
        return call(
            "ask_user",
            says=f"`{column.name}` is an amount, and the goal asks for classes.",
            question=f"{WHICH_KIND} Classes of `{column.name}` could be above or below {column.middle}.",
            options=["amount", "class"],
            default="amount",
        )
    return call(
        "ask_user",
        says=f"`{column.name}` has {column.distinct} whole-number values.",
        question=f"{WHICH_KIND} `{column.name}` holds {column.distinct} different whole numbers.",
        options=list(_KINDS),
        default="class",
    )


def kind_answer(view: View) -> Kind | None:
    return _KINDS.get(_answer(view, WHICH_KIND) or "")


def ask_wish(unknown: Unknown) -> Move:
    return call(
        "ask_user",
        says=f"The preference {unknown.key} names a column that is not there.",
        question=f"{_wish(unknown.key)} There is no column {unknown.name!r}.",
        options=list(unknown.options),
        default=unknown.options[0],
    )


def wish_answers(view: View) -> dict[str, str]:
    answers = {key: _answer(view, _wish(key)) for key in NAMING}
    return {key: answer for key, answer in answers.items() if answer is not None}


def _wish(key: str) -> str:
    return f"Which column is meant as {key}?"


def matching(answer: str, options: Sequence[Scored]) -> Scored | None:
    """The option that an answer names, with or without its table."""
    return next((o for o in options if answer in (_shown(o, True), _shown(o, False))), None)


def _shown(option: Scored, several_tables: bool) -> str:
    return f"{option.table.name}.{option.column.name}" if several_tables else option.column.name


def _answer(view: View, question: str) -> str | None:
    for answered in view.all("ask_user"):
        if str(answered.arguments.get("question", "")).startswith(question):
            return str(answered.value["answer"])
    return None
