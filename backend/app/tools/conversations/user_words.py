"""The words of the user, as consent to a call of the assistant.

Cells, names, answers of requests and texts of runs may tell a chat model to make any call. So a call that acts
for the user counts as theirs only if their message of this turn says so; else they are asked.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from app.tools.approval import APPROVE, Preview, request_approval
from app.tools.context.tool_context import ToolContext
from app.tools.registry import REGISTRY

MAX_SHOWN_CHARS = 100
"""Characters of an answer in the sentence that asks for its approval; all of it stands below."""

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}
_AGREEMENTS = frozenset({"yes", "y", "yep", "yes please", "right", "exactly", "correct", "that one"})
"""Messages that take the only option."""
_YES = re.compile(
    r"\W*(?:yes|y|yep|ok(?:ay)?|sure|approved?|go ahead|go on|do it|send it|yes,? please)\W*", re.IGNORECASE
)
_NO = re.compile(r"\W*(?:no|n|nope|rejected?|don't|do not|stop|leave it|no,? thanks?)\W*", re.IGNORECASE)
_RETRIES = re.compile(
    r"\W*(?:please )?(?:retry|try)(?: (?:it|that|this|the run|the workflow))?(?: again)?"
    r"(?: from the failure)?(?: now)?\W*",
    re.IGNORECASE,
)
_READING_FIELDS = frozenset({"url", "method", "records", "timeout_s"})
"""Fields of a request that send nothing but its address."""
_PARAMETERS = frozenset("?#;{%@")
"""Characters of addresses behind which values stand that a model may have read elsewhere."""


def _bare(text: str) -> str:
    """Return a text without its end of a sentence and quotes around it."""
    return text.strip().strip("\"'`.!").casefold()


def find_option(message: str, options: Sequence[str]) -> str | None:
    """Find the option that a message names: as it is written, by its number, or by its place."""
    text = _bare(message)
    for option in options:
        if text == _bare(option):
            return option
    # After the options as they are written: 3 may be one of them.
    number = text.removeprefix("number ").removeprefix("#")
    if number.isdecimal() and 1 <= int(number) <= len(options):
        return options[int(number) - 1]
    if text in _AGREEMENTS and len(options) == 1:
        return options[0]
    place = _ORDINALS.get(text.removeprefix("the ").removesuffix(" one"))
    return options[place] if place is not None and options and place < len(options) else None


def find_answer(message: str, options: Sequence[str]) -> str | None:
    """Find the option that a message takes; of two, the first one is the consent."""
    option = find_option(message, options)
    if option is not None or len(options) != 2:
        return option
    return options[0] if _YES.fullmatch(message) else options[1] if _NO.fullmatch(message) else None


def asks_to_retry(message: str) -> bool:
    return _RETRIES.fullmatch(message) is not None


def is_own_answer(message: str, options: Sequence[Any], answer: str) -> bool:
    """Check if an answer is what the message says.

    A question without an approval among its options is about what is meant: there it is enough that the answer
    stands in the message, since a chat model takes it out of a sentence.
    """
    texts = [str(option) for option in options]
    if answer in (find_answer(message, texts), message.strip()):
        return True
    words = re.escape(" ".join(answer.split()).casefold())
    sentence = " ".join(message.split()).casefold()
    return APPROVE not in texts and re.search(rf"(?<!\w){words}(?!\w)", sentence) is not None


def is_own_request(message: str, saved: Collection[Any], config: Any) -> bool:
    """Check if a request is one of a saved workflow, or only of an address that the message has.

    So is the reading of a page without parameters: operator and user have both allowed its host.
    """
    if any(config == request for request in saved):
        return True
    if not config.keys() <= _READING_FIELDS or not config.get("url"):
        return False
    if config.get("method", "GET") == "GET" and not _PARAMETERS & {*str(config["url"])}:
        return True
    # To its end: the beginning of a name is the name of another host.
    return re.search(rf"{re.escape(str(config['url']))}(?!\w|[.:@=&%-]\w)", message) is not None


def preview_answer(source: str, question: str, answer: str) -> Preview:
    """Describe an answer in the name of the user. `source`: what asks, in words."""
    return Preview(
        f"Question: {question}\nAnswer: {answer}",
        "The answer counts as yours.",
        f"answer {source} with “{answer[:MAX_SHOWN_CHARS]}”",
    )


async def request_consent(
    ctx: ToolContext, tool: str, arguments: Mapping[str, Any], preview: Preview
) -> Mapping[str, Any]:
    """Ask the user to approve a call that their words do not ask for; return the arguments they approved.

    Raises ToolRefused on rejection.
    """
    return await request_approval(ctx, tool, arguments, REGISTRY[tool].arguments.model_json_schema(), preview)
