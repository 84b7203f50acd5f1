"""The briefs of the reporter: for a question about the data, and for a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from app.agents.state import AnswerSummary, FinalSummary
from app.agents.training_context import ProblemBrief
from app.modeling.facts.conversion import parse_facts

WRITING_TOOLS = ("generate_recommendations", "create_comparison_report", "generate_summary")


@dataclass(frozen=True, kw_only=True)
class QuestionReportBrief:
    """The facts of a question about the data and of its answer."""

    goal: str
    question: str
    answer: AnswerSummary
    tools: Sequence[str] = WRITING_TOOLS
    """Tools that the operator allows."""


@dataclass(frozen=True, kw_only=True)
class ModelReportBrief(ProblemBrief):
    """The facts of the chosen model; `final` is None if the session ended before it had one."""

    candidate: Annotated[str | None, Field(alias="chosen")]
    cautions: Sequence[str]
    final: FinalSummary | None
    tools: Sequence[str] = WRITING_TOOLS


ReportBrief = QuestionReportBrief | ModelReportBrief


def read_report_brief(brief: Mapping[str, Any]) -> ReportBrief:
    if "answer" in brief:
        return parse_facts(QuestionReportBrief, brief)
    return parse_facts(ModelReportBrief, brief)
