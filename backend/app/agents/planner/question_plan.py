"""Plans for goals that are questions about the data, answered from the tables without a model."""

import re
from collections.abc import Sequence

from app.agents.goals.tables import TableProfile
from app.agents.goals.trading_terms import names_barriers
from app.agents.planner.output import Plan, Understanding
from app.agents.planner.planner_facts import Situation
from app.agents.planner.step_descriptions import describe_steps
from app.agents.questions.parser import describes_rows, is_question, parse_question
from app.agents.questions.query import ParsedQuestion, UnparsedQuestion
from app.agents.runtime.offline_policy import AgentAction, call, finish

WHICH_QUESTION = "How is the question meant?"
END, MODEL = "nothing, end here", "predict a column instead"
_ASKS_FOR_FIGURES = re.compile(
    r"\b(?:averages?|mean|median|totals?|sum|top|share|percent\w{0,4}|ratio|count"
    r"|per|by|each|most|least|highest|lowest|largest|smallest|best|worst|busiest|correlat\w{0,6}|distribution|list"
    r"|show|plot|compare\w{0,2}|vs|versus|describe|overview|first|last|latest|was|were|did|had|have|went|ever|rows?"
    r"|between|against|so far|are there|is there)\b|^\W*how many\b",
    re.IGNORECASE,
)
"""Words for figures of stored rows. Without them a question that is not understood may ask for a prediction."""
_SURE_FIGURES = re.compile(
    r"\b(?:lowest|highest|tallest|shortest|fraction|proportion"
    r"|odds|never|colu?mns?|percentages?|within each|ranked)\b",
    re.IGNORECASE,
)
MAX_NOTES = 20
"""Notes of a plan."""
MAX_QUESTIONS = 3
"""Attempts at a question that is not understood: a user who rephrased it three times has no fourth wording."""


def ask_or_answer(situation: Situation) -> AgentAction | None:
    """Plan the answer of a question, or ask about it if it was not understood."""
    goal, tables = situation.goal.text, situation.tables
    if not tables or situation.preferences.implies_model:
        return None
    if not is_question(goal) and not _asks_for_figures(situation):
        described = None if names_barriers(goal) else describes_rows(goal, tables)
        return _plan_answer(goal, described, tables) if described else None
    if names_barriers(goal):
        return None  # a goal about future trades
    answers = situation.answers_to(WHICH_QUESTION)
    if MODEL in answers:
        return None
    question = answers[-1] if answers else goal
    if question == END:
        return _refuse(goal, _unparsed_reason(goal, tables))
    parsed = parse_question(question, tables)
    if isinstance(parsed, ParsedQuestion):
        return _plan_answer(question, parsed, tables)
    if not answers and (situation.goal.wants_drivers or not _ASKS_FOR_FIGURES.search(goal)):
        return None  # a goal about a model of its target
    if len(answers) >= MAX_QUESTIONS:
        return _refuse(goal, parsed.reason)
    return call(
        "ask_user",
        message="The goal asks about the data, and parts of it are not understood.",
        question=f"{WHICH_QUESTION} {parsed.reason} Choose one of these, or rephrase the question.",
        options=[*dict.fromkeys(parsed.options), MODEL, END],
        default=END,
        free_text=True,
    )


def _asks_for_figures(situation: Situation) -> bool:
    """Test if a goal without a verb of prediction has words that only figures of stored rows have."""
    goal = situation.goal
    is_ahead = bool(goal.after_verb or goal.lookahead or goal.wants_drivers or goal.metric)
    return not is_ahead and bool(_SURE_FIGURES.search(goal.text))


def _refuse(goal: str, reason: str) -> AgentAction:
    return finish(Plan(target="?", question=goal, notes=[f"The question was not understood: {reason}"]))


def _unparsed_reason(goal: str, tables: Sequence[TableProfile]) -> str:
    parsed = parse_question(goal, tables)
    return parsed.reason if isinstance(parsed, UnparsedQuestion) else ""


def _plan_answer(question: str, parsed: ParsedQuestion, tables: Sequence[TableProfile]) -> AgentAction:
    """Make the plan of a parsed question. Its target is the first column that the question names."""
    table = next(table for table in tables if table.name == parsed.tables[0])
    message = f"I will answer with {parsed.description}."
    plan = Plan(
        question=question,
        parsed_question=parsed,
        tables=[*parsed.tables],
        target=parsed.columns[0] if parsed.columns else table.columns[0].name,
        notes=[*parsed.interpretations][:MAX_NOTES],
        understanding=Understanding(text=message, confidence=parsed.confidence),
    )
    return finish(plan.model_copy(update={"steps": describe_steps(plan)}), message=message)
