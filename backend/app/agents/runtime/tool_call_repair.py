"""Repair of incomplete or invalid tool calls, so that the chat model can be told what is wrong with them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCall, tool_call

MAX_ARGUMENT_CHARACTERS = 250_000
"""Longest arguments of one call: the largest file that an agent may write, JSON escapes included."""

MAX_TEXT_CHARACTERS = 50_000
"""Longest text of an answer that is stored: ten times the longest useful one."""
_CHARACTERS_PER_TOKEN = 4
"""Of English text, as providers state it. Only the size of a message to the model depends on it."""

UNREADABLE_ARGUMENTS = "unreadable_arguments"
"""Name of the single argument that replaces invalid ones. Its value is the reason."""


def make_truncated_answer(reason: str, length: int) -> AIMessage:
    """Make the substitute of an answer that was stopped for its length; its tokens are estimated."""
    tokens = length // _CHARACTERS_PER_TOKEN
    usage = UsageMetadata(input_tokens=0, output_tokens=tokens, total_tokens=tokens)
    return AIMessage(f"[{reason}]", usage_metadata=usage)


def assign_call_ids(message: AIMessage, turn: int) -> AIMessage:
    """Give new ids to the calls of a message if an id is missing or repeated."""
    ids = [call["id"] for call in message.tool_calls]
    if all(ids) and len(set(ids)) == len(ids):
        return message
    calls = [{**call, "id": f"call_{turn}_{i}"} for i, call in enumerate(message.tool_calls)]
    return message.model_copy(update={"tool_calls": calls})


def restore_invalid_calls(message: AIMessage, streamed_arguments: Sequence[str]) -> AIMessage:
    """Restore all calls of a message. `streamed_arguments`: the raw arguments of each call.

    Invalid calls are kept, because providers refuse a conversation in which a call has no answer.
    """
    calls = list(message.tool_calls)
    # An answer that was not streamed has no raw arguments to compare.
    if len(streamed_arguments) == len(calls):
        calls = [_check_arguments(call, text) for call, text in zip(calls, streamed_arguments, strict=True)]
    broken = [
        tool_call(name=call["name"] or "", args=_describe_error(call["args"] or ""), id=call["id"])
        for call in message.invalid_tool_calls
    ]
    bounded = [_limit_arguments(call) for call in (*calls, *broken)]
    update: dict[str, Any] = {"tool_calls": bounded, "invalid_tool_calls": []}
    if len(message.text) > MAX_TEXT_CHARACTERS:
        update["content"] = f"{message.text[:MAX_TEXT_CHARACTERS]}…"
    return message.model_copy(update=update)


def arguments_error(arguments: Mapping[str, Any]) -> str | None:
    """Return why the arguments are invalid, as a message for the chat model; None if they are valid."""
    return str(arguments[UNREADABLE_ARGUMENTS]) if list(arguments) == [UNREADABLE_ARGUMENTS] else None


def _limit_arguments(call: ToolCall) -> ToolCall:
    """Replace arguments that are too long to be stored or sent back by the reason."""
    try:
        size = len(json.dumps(call["args"], ensure_ascii=False))
        reason = f"they have {size:,} characters; the limit is {MAX_ARGUMENT_CHARACTERS:,}"
    except RecursionError:
        size, reason = MAX_ARGUMENT_CHARACTERS + 1, "they are nested too deeply"
    if size <= MAX_ARGUMENT_CHARACTERS:
        return call
    return {**call, "args": {UNREADABLE_ARGUMENTS: f"The arguments are invalid: {reason}."}}


def _check_arguments(call: ToolCall, text: str) -> ToolCall:
    try:
        # Providers stream no arguments at all for a call that has none.
        is_object = isinstance(json.loads(text or "{}"), dict)
    except (ValueError, RecursionError):
        is_object = False
    return call if is_object else {**call, "args": _describe_error(text)}


def _describe_error(text: str) -> dict[str, str]:
    try:
        json.loads(text)
    except ValueError as error:
        reason = f"they are not valid JSON ({error})"
    except RecursionError:
        reason = "they are nested too deeply"
    else:
        reason = "they are not a JSON object"
    return {UNREADABLE_ARGUMENTS: f"The arguments are invalid: {reason}. They ended with {text[-60:]!r}."}
