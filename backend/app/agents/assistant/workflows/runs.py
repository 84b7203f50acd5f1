"""Messages about runs of saved workflows: what to run, answers to what a run asks, and its result in words."""

import re
from typing import Any, NamedTuple

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.workflows.requests import find_last_answer, find_last_change
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, call, say
from app.counts import describe_count
from app.tools.context.conversation_workflows import (
    RUN_TOOLS,
    NamedWorkflow,
    NodeOutcome,
    RequestedRun,
    RunCard,
)
from app.tools.conversations.user_words import asks_to_retry, find_answer

MAX_OFFERED = 20
"""Workflows that a question offers: as many as one can look through."""
_NO_WORKFLOW = (
    "There is no saved workflow yet. Ask for a table, then say when it comes again: `do this every Monday`."
)
_ENDS = {"succeeded": "has run", "cancelled": "was cancelled"}
_ASKS_FOR_RUN = re.compile(
    r"\W*(?:(?:and|so|ok|please|now) )*"
    r"(?:is (?:it|the (?:run|workflow)) (?:done|ready|finished|over|still running)(?: yet)?"
    r"|how (?:is|did|does) (?:it|the (?:run|workflow)) (?:go|going|doing|end)"
    r"|(?:what (?:is|was|came)|show(?: me)?|tell me|give me) ?(?:out of )?(?:the )?"
    r"(?:status|state|results?|outcome)? ?(?:of )?(?:the|that|this)? ?(?:last )?run|status"
    r"|(?:the )?results?)\W*",
    re.IGNORECASE,
)


class RunCall(NamedTuple):
    """A tool about runs, and its arguments."""

    tool: str
    arguments: dict[str, Any]


class WhichWorkflow(NamedTuple):
    """A question which workflow is to be run."""

    question: str
    workflows: tuple[NamedWorkflow, ...]

    def find_id(self, label: str) -> str | None:
        return next((workflow.id for workflow in self.workflows if workflow.label == label), None)


def run_saved_workflow(view: ConversationView[ChatBrief]) -> AgentAction | None:
    """Run a saved workflow, or pass on what the user answers to its run, and say how it went."""
    if ran := view.last_success(*RUN_TOOLS):
        return say(describe_run(ran.read(RunCard)))
    if refusals := view.refusals(*RUN_TOOLS):
        return say(str(refusals[-1].refusal))
    request = read_run_message(view.brief)
    if isinstance(request, WhichWorkflow):
        reply = view.last_success("ask_user")
        if reply is None:
            options = [workflow.label for workflow in request.workflows]
            return call("ask_user", question=request.question, options=options, needs_answer=True)
        workflow_id = request.find_id(str(reply.value["answer"]))
        return (
            call("run_workflow", workflow=workflow_id)
            if workflow_id
            else say(f"{request.question} Say its name.")
        )
    if isinstance(request, str):
        return say(request)
    return call(request.tool, **request.arguments) if request else None


def read_run_message(brief: ChatBrief) -> RunCall | WhichWorkflow | str | None:
    """Read a message about a run; a text says what has to be said first, None is another message."""
    requested = brief.lane.run
    if requested is not None and (read := _choose_workflow(brief, requested)) is not None:
        return read
    last = brief.runs[-1] if brief.runs else None
    if last is None:
        return None
    if last.question is not None:
        answer = find_answer(brief.message, list(last.question.options))
        if answer is not None:
            arguments = {"run": last.id, "question": last.question.key, "answer": answer}
            return RunCall("answer_run", arguments)
    # After another message "try again" is about that one.
    is_newest = bool(brief.earlier) and brief.earlier[-1].run == last.id
    if is_newest and last.outcome == "failed" and last.status != "cancelled" and asks_to_retry(brief.message):
        return RunCall("retry_run", {"run": last.id})
    # "Is it done" asks about the study where the conversation has one.
    if is_newest and not brief.studies and _ASKS_FOR_RUN.fullmatch(brief.message):
        return RunCall("read_run", {"run": last.id})
    return None


def _choose_workflow(brief: ChatBrief, request: RequestedRun) -> RunCall | WhichWorkflow | str | None:
    changed, answer = find_last_change(brief.earlier), find_last_answer(brief.earlier)
    current = brief.earlier[changed].workflow if changed >= 0 else None
    if not request.is_named:
        if current and (request.says_workflow or changed >= answer):
            return RunCall("run_workflow", {"workflow": current})
        if not request.says_workflow:
            only = brief.workflows[0].id if len(brief.workflows) == 1 and answer < 0 else None
            return RunCall("run_workflow", {"workflow": only}) if only else None
    if not request.workflows:
        names = ", ".join(card.name for card in brief.workflows)
        return f"There is no workflow of that name. There are: {names}." if names else _NO_WORKFLOW
    # A run may send or change something: a workflow that is only guessed is asked about.
    if len(request.workflows) == 1 and not request.is_guess:
        return RunCall("run_workflow", {"workflow": request.workflows[0].id})
    if len(request.workflows) > MAX_OFFERED:
        return f"There are {len(request.workflows)} workflows that you may mean. Name one: run the workflow ..."
    return WhichWorkflow("Which workflow is to be run?", tuple(request.workflows))


def describe_run(card: RunCard) -> str:
    """Describe a run: what it asks or waits for, or how it ended, node by node."""
    head = f"The workflow {card.name!r}, version {card.version},"
    if card.question is not None:
        options = " or ".join(f"`{option}`" for option in card.question.options)
        return f"{head} asks: {card.question.text} Answer {options}."
    if card.outcome is None and card.waits_for:
        return f"{head} waits for its study. Ask for its result at any time."
    if card.outcome is None:
        position = "queued" if card.status == "queued" else "running"
        return f"{head} is {position} still. Ask for its result at any time."
    nodes = [_describe_node(node) for node in card.nodes]
    ended = _ENDS.get(card.status if card.status == "cancelled" else card.outcome, "has failed")
    reason = f" {card.error}" if card.error else ""
    table = f" Its table is `{card.table}` from now on." if card.table else ""
    retry = " Say `retry it` to go on from the failure." if ended == "has failed" and card.nodes else ""
    listing = "".join(f"\n- {node}" for node in nodes)
    return f"{head} {ended}.{reason}{table}{retry}{listing}"


def _describe_node(node: NodeOutcome) -> str:
    parts = [node.status]
    if node.rows is not None and node.status == "done":
        parts = [describe_count(node.rows, "row")]
    texts = (node.error, node.answer, node.headline, *node.notes)
    sentences = [text if text.endswith((".", "!", "?")) else f"{text}." for text in texts if text]
    return f"**{node.id}**: {', '.join(parts)}{'. ' + ' '.join(sentences) if sentences else ''}"
