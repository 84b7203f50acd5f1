"""Approval of tool calls by the user.

The question is keyed by the call, so an answer belongs to one call even if several wait.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.errors import ToolRefused
from app.sessions.step_scope import Question
from app.sessions.tool_permissions import ALWAYS
from app.tools.context.tool_context import ToolContext

APPROVE, REJECT = "approve", "reject"
MAX_REASON_CHARS = 600
"""Characters of the agent's reason in the question: a few sentences."""
MAX_PREVIEW_CHARS = 20_000
"""Characters of a preview in the question's text; the full preview is in `about`."""


@dataclass(frozen=True)
class Preview:
    """Effect of a call, shown before it runs: a unified diff or the arguments, and the risk.

    `action`: the call in words, as the user reads it after "wants to".
    """

    text: str
    risk: str
    action: str


PreviewFunction = Callable[..., Awaitable[Preview]]


async def request_approval(
    ctx: ToolContext,
    tool: str,
    arguments: Mapping[str, Any],
    schema: Mapping[str, Any],
    preview: Preview,
) -> Mapping[str, Any]:
    """Ask the user to approve a call; return the arguments they approved. Raises ToolRefused on rejection."""
    # The user chose `always` in this session before; what runs is still recorded.
    if ctx.records is not None and await ctx.records.is_tool_allowed(tool):
        return arguments
    shortened = preview.text[:MAX_PREVIEW_CHARS]
    if len(preview.text) > MAX_PREVIEW_CHARS:
        shortened += (
            f"\n(Shortened: {len(preview.text) - MAX_PREVIEW_CHARS:,} characters more are not shown here.)"
        )
    # In one line: further ones could look like the preview and its risk below.
    reason = " ".join(ctx.reason.split())[:MAX_REASON_CHARS]
    because = f"\nIts reason: {reason}" if reason else ""
    agent = ctx.agent.replace("_", " ")
    answer = await ctx.step.ask(
        Question(
            key=f"approve:{ctx.call}",
            agent=ctx.agent,
            kind="approval",
            text=f"The {agent} wants to {preview.action}.{because}\n\n{shortened}\n\n{preview.risk}",
            answer_schema=_answer_schema(schema),
            options=[APPROVE, REJECT, ALWAYS],
            # An unanswered question takes its default: no call runs without approval.
            default=REJECT,
            about={
                "tool": tool,
                "arguments": dict(arguments),
                "reason": reason,
                "preview": preview.text,
                "risk": preview.risk,
            },
        )
    )
    if answer in (APPROVE, ALWAYS):
        return arguments
    if isinstance(answer, dict) and "arguments" in answer:
        changed: Any = answer["arguments"]
        return dict(changed)
    # The reason goes to the agent, which may then propose a call that the user accepts.
    why = f": {str(answer['reason']).rstrip(' .')}" if isinstance(answer, dict) else ""
    raise ToolRefused(
        f"The user rejected this call{why}. Continue without it, or propose another one.",
        kind="rejected_by_user",
        action=preview.action,
    )


def format_arguments(arguments: Mapping[str, Any]) -> str:
    """Format arguments for the user: multi-line texts verbatim, other values as JSON."""
    lines = [
        f"{name}:\n{value}" if isinstance(value, str) and "\n" in value else f"{name}: {json.dumps(value)}"
        for name, value in arguments.items()
    ]
    return "\n".join(lines)


def _answer_schema(arguments: Mapping[str, Any]) -> dict[str, Any]:
    reason = {"type": "string", "minLength": 1, "maxLength": 2_000}
    return {
        "anyOf": [
            {"enum": [APPROVE, REJECT, ALWAYS]},
            {
                "type": "object",
                "properties": {"decision": {"const": REJECT}, "reason": reason},
                "required": ["decision", "reason"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"decision": {"const": APPROVE}, "arguments": {"$ref": "#/$defs/arguments"}},
                "required": ["decision", "arguments"],
                "additionalProperties": False,
            },
        ],
        "$defs": {"arguments": _without_references(arguments)},
    }


def _without_references(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Drop `$defs`: references have another root here, and the tool validates its arguments when called."""
    plain = {key: value for key, value in schema.items() if key != "$defs"}
    return plain if "$defs" not in schema else {"type": "object"}
