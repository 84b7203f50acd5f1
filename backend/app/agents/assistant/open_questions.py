"""Messages behind a question that was not understood, or whose readings were offered: `and in 2024?`.

They go with that question, and not with an older result: both are parsed together.
"""

import re
from collections.abc import Sequence

from app.agents.assistant.brief import ChatBrief, EarlierTurn
from app.agents.assistant.own_questions import asks_whole_question

NOT_UNDERSTOOD = "I did not understand that."
"""Beginning of the answer to a question that was not understood: the question stays open."""
MAX_WORDS = 9
"""Words of a part of a question: longer messages say all that they ask for."""
_PART = re.compile(
    r"^\W{0,5}(?:(?:and|but|now|ok|what about|how about|i mean|i meant)[ ,]{1,3}){0,2}(?:only |just )?"
    r"(?P<words>(?:in|for|by|per|since|from|until|before|after|between|during|within|without|excluding|where|with"
    r"|of|on|at|over|under|above|below|as of)\b.{1,80}?|(?:19|20)\d\d)[\s?.!]*$",
    re.IGNORECASE,
)


def join_open_question(message: str, earlier: Sequence[EarlierTurn]) -> str | None:
    """Join a message with the open question before it; None where none is open, or it is no part of one."""
    before = earlier[-1] if earlier else None
    if before is None or before.has_result or not before.text.startswith(NOT_UNDERSTOOD):
        return None
    part = _PART.match(message)
    if part is None or len(message.split()) > MAX_WORDS or asks_whole_question(message):
        return None
    question = join_open_question(before.message, earlier[:-1]) or before.message
    words = part["words"]
    return f"{question.rstrip(' ?.!')} {words if not words[0].isdigit() else f'in {words}'}"


def list_spellings(brief: ChatBrief) -> list[str]:
    """List the questions as which a message may have been parsed: joined with an open one, and by itself."""
    joined = join_open_question(brief.message, brief.earlier)
    return [joined, brief.message] if joined else [brief.message]


def describe_older_result(earlier: Sequence[EarlierTurn]) -> str | None:
    """Say to which result a change belongs where the turn before it was not understood."""
    if not earlier or not earlier[-1].text.startswith(NOT_UNDERSTOOD):
        return None
    place = next((place for place in reversed(range(len(earlier))) if earlier[place].has_result), None)
    if place is None:
        return None
    # An answer that was taken by its number is that of the question before.
    is_number = earlier[place].message.strip(" .").isdigit() and place > 0
    return f"This changes the answer to {earlier[place - 1 if is_number else place].message!r}."
