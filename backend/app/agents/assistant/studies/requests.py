"""Messages about studies: goals to predict, answers to their questions, forks, comparisons and single rows."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from app.agents.assistant.brief import ChatBrief
from app.agents.goals.row_search import asks_for_unusual_rows, asks_to_form_groups
from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.matching.column_mentions import find_column
from app.modeling.problem.metrics import METRIC_PHRASES
from app.modeling.problem.name_resolution import hint_names
from app.tools.context.conversation_studies import StudyCard, StudyQuestion
from app.tools.conversations.user_words import find_option

_GOAL = re.compile(
    r"^\W{0,5}(?:(?:please|can you|could you|would you|now|i want(?: you)? to|i would like(?: you)? to"
    r"|i\'d like to"
    r"|let\'s|help me|try to|and|build|train|make|create|fit|a|the|model|models|that|which|to|me) )*"
    r"(?:predict|forecast|classify|train|fit a model|build a model)\w{0,3}\b",
    re.IGNORECASE,
)
_NARROWS = re.compile(
    r"^\W{0,5}(?:(?:and|now|but|ok|please) )*(?:only|just|keep|without|drop|those|these)\b", re.I
)
"""First words of messages that change the rows of the last answer: "only those with a strange shape"."""
_WHAT_IF = re.compile(
    r"^\W{0,5}(?:(?:and|so|now|ok|please) )*(?:what (?:if|happens if|about)|how about|try|retry"
    r"|repeat(?: it)?|redo|run"
    r"(?: it)?(?: again)?|fork|again)\b",
    re.IGNORECASE,
)
_LEAVES_OUT = re.compile(
    r"\b(?:leave|leaving|left|take|drop|dropp|exclud|remov|omit|ignor|without|skip|not us|don\'t us)\w*"
    r"(?: out| away)?(?: the)?(?: columns?)? (?P<columns>[^?.!]{1,300})",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    r"^\W{0,5}(?:(?:and|now|please|can you) )*(?:compare|which (?:one )?(?:is|was|of (?:them"
    r"|the two) is) (?:better|best))"
    r"\b(?P<rest>[^?.!]{0,80})",
    re.IGNORECASE,
)
_BOTH = re.compile(
    r"^\W*(?:(?:both|the two|two|them|these|those|all|models?|studies|study|results?|runs?|forks?|of|the"
    r"|with|and"
    r"|each other|last|it)\W*)*$",
    re.IGNORECASE,
)
_EXPLAIN = re.compile(
    r"^\W{0,5}(?:(?:and|but|ok|so|please|can you) )*(?:why|explain|how come)\b[^?.!]{0,120}?\b(?:row|line"
    r"|record|customer"
    r"|case|observation)(?: number| no\.?)? #?(?P<row>\d{1,7})\b",
    re.IGNORECASE,
)
_ASKS_FOR_RESULT = re.compile(
    r"^\W{0,5}(?:(?:and|so|ok|please) )*(?:is (?:it|the (?:study|model|training)) (?:done|ready|finished"
    r"|over|still running)"
    r"(?: yet)?|how (?:is|did) (?:it|the (?:study|model|training)) (?:go|going|doing|come along)"
    r"|how far is (?:it|the study)"
    r"|(?:what (?:is|was|are|were|came)|show(?: me)?|tell me|give me)(?: out)?(?: of)?(?: the)? ?(?:study"
    r"|results?|outcome"
    r"|score|leaderboard|status|model)?(?: of)?(?: the| that| my| it)? ?(?:study|model|training|result"
    r"|outcome|status"
    r"|leaderboard|score)|how good is (?:it|the model)|what came out(?: of (?:it|the study))?|status"
    r"|(?:the )?(?:results?|leaderboard|score))\W*$",
    re.IGNORECASE,
)
MAX_ANSWER_CHARS = 300
"""Characters of an answer to a study: longer texts are messages of their own."""


class StudyCall(NamedTuple):
    """A tool of studies, and its arguments."""

    tool: str
    arguments: dict[str, Any]


class StudyRefusal(NamedTuple):
    """The reason why a message about studies leads to nothing."""

    reason: str


def read_study_message(brief: ChatBrief, tables: Sequence[TableProfile]) -> StudyCall | StudyRefusal | None:
    """Read a message about studies; None for another one."""
    message = " ".join(brief.message.split())
    if answer := read_option_answer(brief):
        return answer
    if brief.studies:
        about = _read_about_studies(message, brief.studies, tables)
        if about is not None:
            return about
    is_goal = _GOAL.match(message) and not message.rstrip().endswith("?")
    if is_goal or _asks_for_row_search(message, tables):
        return StudyCall("start_study", {"goal": brief.message})
    return None


def _asks_for_row_search(message: str, tables: Sequence[TableProfile]) -> bool:
    """Test if a message asks for unusual rows or groups, which no query finds, and narrows no answer."""
    # Without a table the answer that asks for one is better.
    if not tables or _NARROWS.match(message):
        return False
    return asks_for_unusual_rows(message, tables) or asks_to_form_groups(message, tables)


def read_option_answer(brief: ChatBrief) -> StudyCall | None:
    """Take a message that is one of the options as the answer to the study that offers them."""
    asking = find_asking_study(brief)
    if asking is None or asking.question is None:
        return None
    message = " ".join(brief.message.split())
    option = find_option(message, [str(option) for option in asking.question.options])
    return None if option is None else _make_answer(asking.id, asking.question, option)


def read_free_answer(brief: ChatBrief) -> StudyCall | None:
    """Take a message that is nothing else as the answer to a study that asks for words."""
    asking = find_asking_study(brief)
    if asking is None or asking.question is None or len(brief.message) > MAX_ANSWER_CHARS:
        return None
    return _make_answer(asking.id, asking.question, brief.message.strip()) if asking.question.is_text else None


def _make_answer(study: str, question: StudyQuestion, answer: str) -> StudyCall:
    return StudyCall("answer_study", {"study": study, "question": question.key, "answer": answer})


def find_asking_study(brief: ChatBrief) -> StudyCard | None:
    """Find the newest study that waits for an answer."""
    return next((study for study in reversed(brief.studies) if study.question is not None), None)


def _read_about_studies(
    message: str, studies: Sequence[StudyCard], tables: Sequence[TableProfile]
) -> StudyCall | StudyRefusal | None:
    explained = _EXPLAIN.match(message)
    finished = [study for study in studies if study.is_finished]
    if explained is not None:
        if not finished:
            return StudyRefusal("No study of this conversation has finished yet.")
        return StudyCall("explain_prediction", {"study": finished[-1].id, "row": int(explained["row"])})
    compared = _COMPARE.match(message)
    if compared is not None and _BOTH.match(compared["rest"]):
        if len(finished) < 2:
            return StudyRefusal("Two finished studies are needed to compare; this conversation has fewer.")
        return StudyCall("compare_studies", {"studies": [study.id for study in finished[-2:]]})
    if _ASKS_FOR_RESULT.match(message):
        return StudyCall("read_study", {"study": studies[-1].id})
    return _read_fork(message, finished, tables) if _WHAT_IF.match(message) else None


def _read_fork(
    message: str, finished: Sequence[StudyCard], tables: Sequence[TableProfile]
) -> StudyCall | StudyRefusal | None:
    leaves_out = _LEAVES_OUT.search(message)
    if leaves_out is not None:
        names = [column.name for table in tables for column in table.columns]
        parts = [part for part in re.split(r",| and | or ", leaves_out["columns"]) if part.strip()]
        columns = [find_column(part, names) for part in parts]
        # A fork without one of the columns would answer another "what if", so all must be there.
        if all(columns):
            return _fork(finished, {"leave_out": columns})
        unknown = ", ".join(part.strip() for part, column in zip(parts, columns, strict=True) if column is None)
        return StudyRefusal(f"There is no column {unknown!r} to leave out. {hint_names((), names)}")
    metrics = (name for pattern, name in METRIC_PHRASES if re.search(pattern, message, re.IGNORECASE))
    metric = next(metrics, None)
    return _fork(finished, {"metric": metric}) if metric else None


def _fork(finished: Sequence[StudyCard], settings: dict[str, Any]) -> StudyCall | StudyRefusal:
    if not finished:
        return StudyRefusal("No study of this conversation has finished yet: ask again when it has.")
    return StudyCall("fork_study", {"study": finished[-1].id, **settings})
