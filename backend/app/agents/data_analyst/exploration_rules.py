"""Rules of the stage `analysis`: explore the training frame and exclude columns that leak the target."""

from collections.abc import Sequence

from app.agents.data_analyst.brief import AnalysisBrief, AnalysisSummary, LeakingColumn
from app.agents.data_analyst.output import Analysis
from app.agents.runtime.conversation import ConversationView, UserAnswer
from app.agents.runtime.offline_policy import AgentAction, Rule, call, finish

LEAVE_OUT, KEEP = "leave them out", "keep them"
MAX_SENTENCES = 4
"""Sentences of one message to the user: more are read by few, and the report has them all."""


def explore(view: ConversationView[AnalysisBrief]) -> AgentAction | None:
    return (
        None if view.was_called("perform_eda") else call("perform_eda", message="I explore the training rows.")
    )


def ask_about_leaks(view: ConversationView[AnalysisBrief]) -> AgentAction | None:
    """Ask about columns that may leak the target. Certain leaks are excluded without a question."""
    uncertain = [leak for leak in _leaks(view) if not leak.certain]
    if not uncertain or view.was_called("ask_user"):
        return None
    return call(
        "ask_user",
        message=" ".join(leak.text for leak in uncertain[:MAX_SENTENCES]),
        question=f"Will {_join_columns(uncertain)} be known when the model is used? "
        "If not, they leak the target and should be left out.",
        options=[LEAVE_OUT, KEEP],
        default=LEAVE_OUT,
    )


def conclude(view: ConversationView[AnalysisBrief]) -> AgentAction:
    eda = view.last_success("perform_eda")
    if eda is None:
        refusals = [completed.refusal or "" for completed in view.refusals("perform_eda")]
        return finish(
            Analysis(notes=refusals),
            message="The data could not be explored. I continue without an exploration.",
        )
    certain = [leak for leak in _leaks(view) if leak.certain]
    uncertain = [leak for leak in _leaks(view) if not leak.certain]
    answer = view.last_success("ask_user")
    is_kept = answer is not None and answer.read(UserAnswer).answer == KEEP
    leaks = certain if is_kept else certain + uncertain
    exclude = list(dict.fromkeys(leak.column for leak in leaks))
    notes = [leak.text for leak in leaks]
    return finish(
        Analysis(exclude=exclude, notes=notes), message=_describe_findings(eda.read(AnalysisSummary), exclude)
    )


RULES: tuple[Rule[AnalysisBrief], ...] = (explore, ask_about_leaks, conclude)


def _leaks(view: ConversationView[AnalysisBrief]) -> Sequence[LeakingColumn]:
    eda = view.last_success("perform_eda")
    return eda.read(AnalysisSummary).leaks if eda else ()


def _join_columns(leaks: Sequence[LeakingColumn]) -> str:
    return " and ".join(f"`{leak.column}`" for leak in leaks)


def _describe_findings(eda: AnalysisSummary, exclude: list[str]) -> str:
    warnings = [finding.text for finding in eda.findings if finding.severity != "info"][:MAX_SENTENCES]
    exclusions = (
        [f"I leave out {', '.join(f'`{name}`' for name in exclude)}: the target can be derived from it."]
        if exclude
        else []
    )
    return " ".join([*exclusions, *warnings]) or "Nothing in the data stands out."
