"""The offline policy of the reporter: all documents in order, then the headline."""

from app.agents.reporter.output import Reported
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.policy import AgentAction, call, finish, make_policy

WRITING_TOOLS = ("generate_recommendations", "create_comparison_report", "generate_summary")


def write(view: ConversationView) -> AgentAction | None:
    """Write the next document. A refused one is not repeated."""
    available = view.brief.get("tools", WRITING_TOOLS)
    documents = WRITING_TOOLS[-1:] if "answer" in view.brief else WRITING_TOOLS
    remaining = [name for name in documents if name in available and not view.was_called(name)]
    return call(remaining[0]) if remaining else None


def conclude(view: ConversationView) -> AgentAction:
    refused = view.refusals(*WRITING_TOOLS)
    missing = f" Missing: {refused[-1].refusal}" if refused else ""
    headline = f"{_headline(view)}{missing}"
    return finish(Reported(headline=headline[:2000]), message=headline)


RULES = (write, conclude)
decide = make_policy(RULES)


def _headline(view: ConversationView) -> str:
    """Make the headline without numbers: these belong to the report, where each has its source."""
    if "answer" in view.brief:
        return str(view.brief["answer"]["unanswered"]) or "The question is answered; the report shows how."
    target, final = view.brief["problem"]["target"], view.brief["final"]
    if final is None:
        return f"The report is written, without a model for `{target}`: the session ended before its first one."
    comparison = (
        "does better than the baseline on rows it had never seen"
        if final["beats_baseline"]
        else "does no better than the baseline on rows it had never seen"
    )
    trading = f"{str(final['traded']['verdict']).split(':')[0]}. " if final.get("traded") else ""
    return f"{trading}The report is written: {view.brief['chosen']} for `{target}` {comparison}."
