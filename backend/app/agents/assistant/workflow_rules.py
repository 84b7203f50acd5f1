"""The rule of the assistant about workflows that are made or changed."""

from dataclasses import replace

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.follow_ups.earlier_answers import count_undone
from app.agents.assistant.message_parsing import list_options, parse_message
from app.agents.assistant.workflows.requests import (
    WorkflowRequest,
    describe_saved,
    find_last_answer,
    find_last_change,
    read_change_message,
    read_sent_data,
)
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, call, say
from app.tools.context.conversation_workflows import WorkflowCard

View = ConversationView[ChatBrief]


def change_workflow(view: View) -> AgentAction | None:
    """Make or change a workflow as the message asks, and say what came of it."""
    if saved := view.last_success("patch_workflow"):
        return say(describe_saved(saved.read(WorkflowCard)))
    if refusals := view.refusals("patch_workflow"):
        return say(str(refusals[-1].refusal))
    if _takes_answer_back(view.brief):
        return None
    request = read_change_message(view.brief)
    if request is None:
        return None
    data = None if view.brief.lane.is_edit else read_sent_data(view.brief.message)
    parsed = parse_message(replace(view.brief, message=data)) if data else None
    if isinstance(parsed, ParsedQuestion):  # it names its data, whatever there is already
        plan = parsed.plan.model_dump(mode="json", exclude_none=True)
        return call("patch_workflow", words=view.brief.message, plan=plan, name=data)
    if isinstance(parsed, UnparsedQuestion) and not _changes_saved(request):
        return say(f"I did not understand {data!r}. {parsed.reason} {list_options(parsed.options)}".strip())
    return say(request) if isinstance(request, str) else call(request.tool, **request.arguments)


def _changes_saved(request: WorkflowRequest | str) -> bool:
    return not isinstance(request, str) and "workflow" in request.arguments


def _takes_answer_back(brief: ChatBrief) -> bool:
    """Tell if `undo that` means the last answer: no workflow was made or changed after it."""
    is_about_workflow = find_last_change(brief.earlier) > find_last_answer(brief.earlier)
    return not is_about_workflow and count_undone(brief.message) > 0
