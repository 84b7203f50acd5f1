"""Readings that an answer offers for a question that is not understood, and the next message that takes one."""

from collections.abc import Callable, Sequence

from app.agents.assistant.brief import ChatBrief
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion

ParseMessage = Callable[[ChatBrief], ParsedQuestion | UnparsedQuestion]

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}
_OFFER = "Do you mean"
_AGREEMENTS = frozenset({"yes", "y", "yep", "yes please", "right", "exactly", "correct", "that one"})
"""Messages that take the only option."""


def find_option(message: str, options: Sequence[str]) -> str | None:
    """Find the option that a message names: as it is written, by its number, or by its place."""
    text = message.strip().strip("\"'`.!").casefold()
    for option in options:
        if text == option.casefold():
            return option
    # After the options as they are written: 3 may be one of them.
    number = text.removeprefix("number ").removeprefix("#")
    if number.isdecimal() and 1 <= int(number) <= len(options):
        return options[int(number) - 1]
    if text in _AGREEMENTS and len(options) == 1:
        return options[0]
    place = _ORDINALS.get(text.removeprefix("the ").removesuffix(" one"))
    return options[place] if place is not None and options and place < len(options) else None


def describe_offer(readings: Sequence[ParsedQuestion]) -> str:
    """Ask which reading is meant; empty without any."""
    if len(readings) == 1:
        return f"{_OFFER} {readings[0].description}? Say yes, or ask in other words."
    numbered = "; ".join(f"{number}. {reading.description}" for number, reading in enumerate(readings, 1))
    return f"{_OFFER} {numbered}? Answer with its number, or ask in other words." if readings else ""


def find_taken_reading(brief: ChatBrief, parse: ParseMessage) -> ParsedQuestion | None:
    """Return the reading of the message before that this one takes; None if it is another message."""
    before = brief.earlier[-1] if brief.earlier else None
    if before is None or _OFFER not in before.text:
        return None
    # Parsed again as it was then: only the words of an answer are stored, not its readings.
    parsed = parse(ChatBrief(before.message, brief.tables, brief.earlier[:-1]))
    # Tables may have changed since the offer: its second reading is then no longer the second.
    if not isinstance(parsed, UnparsedQuestion) or describe_offer(parsed.readings) not in before.text:
        return None
    option = find_option(brief.message, [reading.description for reading in parsed.readings])
    return parsed.find_reading(option) if option else None
