"""The reporter without a provider: every document in its order, then the headline."""

from app.agents.reporter.output import Reported
from app.agents.runtime.conversation import View
from app.agents.runtime.policy import AgentAction, call, finish, follow

WRITING = ("generate_recommendations", "create_comparison_report", "generate_summary")


def write(view: View) -> AgentAction | None:
    """The next document that is not written; a refused one is not tried twice."""
    available = view.brief.get("tools", WRITING)
    wanted = WRITING[-1:] if "answer" in view.brief else WRITING
    waiting = [name for name in wanted if name in available and not view.tried(name)]
    return call(waiting[0]) if waiting else None


def conclude(view: View) -> AgentAction:
    refused = view.refused(*WRITING)
    without = f" Missing: {refused[-1].refusal}" if refused else ""
    headline = f"{_headline(view)}{without}"
    return finish(Reported(headline=headline[:2000]), says=headline)


RULES = (write, conclude)
decide = follow(RULES)


def _headline(view: View) -> str:
    """In words only: numbers belong to the report, where each has its source."""
    if "answer" in view.brief:
        return str(view.brief["answer"]["unanswered"]) or "The question is answered; the report shows by what."
    target, final = view.brief["problem"]["target"], view.brief["final"]
    if final is None:
        return f"The report is written, without a model for `{target}`: the session ended before its first one."
    judged = (
        "does better than the baseline on rows it had never seen"
        if final["beats_baseline"]
        else "does no better than the baseline on rows it had never seen"
    )
    traded = f"{str(final['traded']['verdict']).split(':')[0]}. " if final.get("traded") else ""
    return f"{traded}The report is written: {view.brief['chosen']} for `{target}` {judged}."
