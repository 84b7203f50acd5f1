"""Rules of the stage `analysis`: explore the training frame and exclude columns that leak the target."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.agents.data_analyst.brief import AnalysisBrief, AnalysisSummary, LeakingColumn
from app.agents.data_analyst.output import Analysis
from app.agents.runtime.conversation import ConversationView, UserAnswer
from app.agents.runtime.offline_policy import AgentAction, Rule, call, finish
from app.modeling.facts.assumptions import AssumptionSide

LEAVE_OUT, KEEP = "leave them out", "keep them"
MAX_SENTENCES = 4
"""Sentences of one message to the user: more are read by few, and the report has them all."""
MAX_QUESTIONS = 2
"""Questions about columns: each stops the session, and the report has the figures of the others."""


def explore(view: ConversationView[AnalysisBrief]) -> AgentAction | None:
    return (
        None if view.was_called("perform_eda") else call("perform_eda", message="I explore the training rows.")
    )


def ask_about_columns(view: ConversationView[AnalysisBrief]) -> AgentAction | None:
    """Ask if the columns are known in time that change the score, with both figures. Certain leaks are excluded
    without a question."""
    open_questions = [suspect for suspect in _suspects(view) if suspect.is_asked]
    position = len(view.successes("ask_user"))
    # A refused question would be refused again: the defaults decide then.
    if position >= min(len(open_questions), MAX_QUESTIONS) or view.refusals("ask_user"):
        return None
    suspect = open_questions[position]
    return call(
        "ask_user",
        message=suspect.text,
        question=suspect.question,
        options=[LEAVE_OUT, KEEP],
        default=LEAVE_OUT if suspect.is_left_out else KEEP,
    )


def conclude(view: ConversationView[AnalysisBrief]) -> AgentAction:
    eda = view.last_success("perform_eda")
    if eda is None:
        refusals = [completed.refusal or "" for completed in view.refusals("perform_eda")]
        return finish(
            Analysis(notes=refusals),
            message="The data could not be explored. I continue without an exploration.",
        )
    answers = [answer.read(UserAnswer).answer for answer in view.successes("ask_user")]
    exclude: list[str] = []
    reasons: list[str] = []
    for suspect in _suspects(view):
        answer = answers.pop(0) if suspect.is_asked and answers else None
        if answer == LEAVE_OUT or (answer != KEEP and suspect.is_left_out):
            exclude += [column for column in suspect.columns if column not in exclude]
            reasons.append(_describe_exclusion(suspect))
    summary = eda.read(AnalysisSummary)
    if exclude and not _list_inputs(view.brief, exclude):
        # Of no column at all nothing can be learned: the figures with them are worth more than a failure.
        names = ", ".join(f"`{name}`" for name in exclude)
        reasons = [f"{names} may be known too late, and stays: without it no input is left to learn from."]
        exclude = []
    notes = [*reasons, *summary.notes]
    return finish(Analysis(exclude=exclude, notes=notes), message=_describe_findings(summary, reasons))


def _list_inputs(brief: AnalysisBrief, exclude: Sequence[str]) -> list[str]:
    """List the columns that a model still learns from without some."""
    problem = brief.problem
    left_out = {problem.target, problem.time_column, *problem.group_columns, *problem.exclude, *exclude}
    return [column.name for column in brief.columns if column.name not in left_out]


@dataclass(frozen=True)
class DoubtedColumns:
    """Columns that may be known too late. `is_left_out`: unless the user answers otherwise."""

    columns: Sequence[str]
    text: str
    question: str
    is_left_out: bool
    is_asked: bool


def _suspects(view: ConversationView[AnalysisBrief]) -> list[DoubtedColumns]:
    """Suspected columns: the leaks with what was measured of them, and columns that carry all of the score."""
    eda = view.last_success("perform_eda")
    if eda is None:
        return []
    summary = eda.read(AnalysisSummary)
    requested = set(view.brief.problem.exclude)
    suspects: list[DoubtedColumns] = []
    for assumption in summary.assumptions:
        if set(assumption.columns) <= requested:
            continue
        leaks = [leak for leak in summary.leaks if leak.column in assumption.columns]
        is_certain = any(leak.certain for leak in leaks)
        is_left_out = assumption.side is AssumptionSide.OTHERWISE
        is_asked = not is_certain and assumption.matters
        suspects.append(
            DoubtedColumns(assumption.columns, assumption.why, assumption.question, is_left_out, is_asked)
        )
    measured = {column for suspect in suspects for column in suspect.columns}
    for leak in summary.leaks:
        if leak.column not in measured:
            is_left_out = leak.certain or leak.evidence_of != "score"
            suspects.append(
                DoubtedColumns(
                    [leak.column],
                    leak.text,
                    _question(leak),
                    is_left_out,
                    is_left_out and not leak.certain,
                )
            )
    return suspects


def _question(leak: LeakingColumn) -> str:
    return f"Will `{leak.column}` be known when the model is used? If not, it leaks the target: leave it out."


RULES: tuple[Rule[AnalysisBrief], ...] = (explore, ask_about_columns, conclude)


def _describe_exclusion(suspect: DoubtedColumns) -> str:
    """The reason of an exclusion; the text of columns that are inputs by default says so, and is none."""
    names = ", ".join(f"`{name}`" for name in suspect.columns)
    if not suspect.is_left_out:
        return f"I leave out {names}, as you answered."
    if suspect.text.endswith("left out."):
        return suspect.text
    return f"I leave out {names}: {suspect.text}"


def _describe_findings(eda: AnalysisSummary, reasons: Sequence[str]) -> str:
    """The findings for the user. `reasons`: why columns are left out, a text for each exclusion."""
    warnings = [finding.text for finding in eda.findings if finding.severity != "info"][:MAX_SENTENCES]
    return " ".join([*reasons[:MAX_SENTENCES], *warnings]) or "Nothing in the data stands out."
