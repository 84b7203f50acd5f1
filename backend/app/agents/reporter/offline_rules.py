"""The offline policy of the reporter: all documents in order, then the headline."""

from app.agents.reporter.brief import WRITING_TOOLS, QuestionReportBrief, ReportBrief, read_report_brief
from app.agents.reporter.output import Reported
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, call, finish, make_policy


def write(view: ConversationView[ReportBrief]) -> AgentAction | None:
    """Write the next document. A refused one is not repeated."""
    documents = WRITING_TOOLS[-1:] if isinstance(view.brief, QuestionReportBrief) else WRITING_TOOLS
    remaining = [name for name in documents if name in view.brief.tools and not view.was_called(name)]
    return call(remaining[0]) if remaining else None


def conclude(view: ConversationView[ReportBrief]) -> AgentAction:
    refused = view.refusals(*WRITING_TOOLS)
    missing = f" Missing: {refused[-1].refusal}" if refused else ""
    headline = f"{_headline(view)}{missing}"
    return finish(Reported(headline=headline[:2000]), message=headline)


RULES = (write, conclude)
decide = make_policy(RULES, read_report_brief)


def _headline(view: ConversationView[ReportBrief]) -> str:
    """Make the headline without numbers: these belong to the report, where each has its source."""
    brief = view.brief
    if isinstance(brief, QuestionReportBrief):
        return brief.answer.unanswered or "The question is answered; the report shows how."
    target, final = brief.problem.target, brief.final
    if final is None:
        return f"The report is written, without a model for `{target}`: the session ended before its first one."
    comparison = (
        "does better than the baseline on rows it had never seen"
        if final.beats_baseline
        else "does no better than the baseline on rows it had never seen"
    )
    trading = f"{final.traded.verdict.split(':')[0]}. " if final.traded else ""
    return f"{trading}The report is written: {brief.candidate} for `{target}` {comparison}."
