"""What the planner asks when goal and data leave it open, and how it reads the answers."""

from collections.abc import Sequence

from app.agents.conversation import View
from app.agents.planner.phrases import Kind
from app.agents.planner.tables import Column
from app.agents.planner.target import Scored
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
    return call(
        "ask_user",
        says=f"`{column.name}` has {column.distinct} whole-number values.",
        question=f"{WHICH_KIND} `{column.name}` holds {column.distinct} different whole numbers.",
        options=list(_KINDS),
        default="class",
    )


def kind_answer(view: View) -> Kind | None:
    return _KINDS.get(_answer(view, WHICH_KIND) or "")


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
