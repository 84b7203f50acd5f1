"""Readings that an answer offers for a question that is not understood, and the next message that takes one."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.open_questions import list_spellings
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.tools.conversations.user_words import find_option

ParseMessage = Callable[[ChatBrief], ParsedQuestion | UnparsedQuestion]

_OFFER = "Do you mean"
_BY_NUMBER = "? Answer with its number, or ask in other words."
_BY_AGREEMENT = "? Say yes, or ask in other words."
_EXAMPLES = ("You can ask, for example: ", "Say, for example: ")
_OR_WHOLE = "; or ask the whole question again"
_NUMBER = re.compile(r"(?:^|; )\d{1,2}\. ")


def describe_offer(readings: Sequence[ParsedQuestion]) -> str:
    """Ask which reading is meant; empty without any."""
    if len(readings) == 1:
        return f"{_OFFER} {readings[0].description}{_BY_AGREEMENT}"
    numbered = "; ".join(f"{number}. {reading.description}" for number, reading in enumerate(readings, 1))
    return f"{_OFFER} {numbered}{_BY_NUMBER}" if readings else ""


def list_suggestions(text: str) -> list[str]:
    """List the messages that an answer ends with: readings that it offers, else examples of questions."""
    for end in (_BY_NUMBER, _BY_AGREEMENT):
        if text.endswith(end):
            offered = text.removesuffix(end).rpartition(f"{_OFFER} ")[2]
            return [part for part in _NUMBER.split(offered) if part]
    for begin in _EXAMPLES:
        if begin in text:
            return text.rpartition(begin)[2].removesuffix(".").removesuffix(_OR_WHOLE).split("; ")
    return []


def find_taken_reading(brief: ChatBrief, parse: ParseMessage) -> ParsedQuestion | None:
    """Return the reading of the message before that this one takes; None if it is another message."""
    before = brief.earlier[-1] if brief.earlier else None
    if before is None or _OFFER not in before.text:
        return None
    # Parsed again as it was then: only the words of an answer are stored, not its readings.
    then = replace(brief, message=before.message, earlier=brief.earlier[:-1])
    for question in list_spellings(then):
        parsed = parse(replace(then, message=question))
        # Tables may have changed since the offer: its second reading is then no longer the second.
        if isinstance(parsed, UnparsedQuestion) and describe_offer(parsed.readings) in before.text:
            option = find_option(brief.message, [reading.description for reading in parsed.readings])
            return parsed.find_reading(option) if option else None
    return None
