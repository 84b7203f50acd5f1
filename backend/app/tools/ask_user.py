"""The tool that asks the user."""

from typing import Annotated, Any

from pydantic import Field

from app.json_types import JsonValue
from app.sessions.step_scope import CallResult, Question
from app.tools.agent_names import EVERY_AGENT
from app.tools.context.tool_context import ToolContext
from app.tools.registry import tool


@tool(agents=EVERY_AGENT)
async def ask_user(
    ctx: ToolContext,
    question: Annotated[str, Field(min_length=3, max_length=2000)],
    options: Annotated[list[str], Field(max_length=50)] = [],  # noqa: B006 - a schema default, never mutated
    default: str | None = None,
    free_text: bool = False,
    needs_answer: bool = False,
) -> CallResult:
    """Ask the user one question and wait for the answer.

    Ask only for what goal and data do not contain. Give the options and the default that you would choose;
    `free_text` allows any other answer too. `needs_answer`: no default would be right, so that the session
    waits for the user, or ends where nobody answers.
    """
    # Without a default the session waits, or ends where nobody answers; a default would be taken by itself.
    if needs_answer:
        default = None
    elif default is None and options:
        default = options[0]
    answer = await ctx.step.ask(
        Question(
            key=ctx.call,
            agent=ctx.agent,
            text=question,
            answer_schema=_answer_schema(options, free_text),
            options=list(options),
            default=default,
        )
    )
    return CallResult(value={"answer": answer}, summary=f"Answered: {answer}")


def _answer_schema(options: list[str], free_text: bool) -> dict[str, Any]:
    if options and not free_text:
        return {"enum": list[JsonValue](options)}
    return {"type": "string", "minLength": 1, "maxLength": 4000}
