"""Refusals: of what is not served, and of procedures that would not be followed to the letter."""

from app.agents.goals.phrases.patterns import VERB
from app.agents.goals.refusals.spelled_out_procedures import find_procedure
from app.agents.goals.refusals.unserved_analyses import SIMULATION, asks_for_simulation
from app.agents.goals.refusals.unserved_requests import find_unserved
from app.agents.planner.output import Plan
from app.agents.planner.planner_facts import Situation
from app.agents.planner.rules import question
from app.agents.runtime.offline_policy import AgentAction, finish

MIN_SIGNED_UNSERVED = 0.2
"""Probability of a request that is not served from which its verb decides: "warn when dust goes past 40" asks
for a prediction."""
MIN_UNSERVED = 0.7
"""Probability from which a goal is refused as a request of another kind: a prediction that is refused costs its
user more than a question."""
_NOT_SERVED = (
    "The goal asks for something that Labcrew does not do. It predicts, explains and forecasts columns of your"
    " tables, describes them, and answers questions about their rows: ask for one of these."
)
_AS_WORKFLOW = (
    " Or say this in a conversation (Chat in the page, `labcrew chat`): there it becomes a workflow for you to"
    " approve."
)
_NO_PROCEDURE = (
    "The goal spells out a procedure ({!r}), and without a chat model none is followed to the letter. Set the"
    " key of a chat model, run the steps yourself (`PYTHON:` in `labcrew chat`), or ask for a prediction:"
    " `Predict ...`."
)


def refuse_unserved(situation: Situation) -> AgentAction | None:
    """Refuse a request that is not served, unless the goal also asks for a prediction."""
    goal = situation.goal.text
    if not situation.tables or situation.preferences.implies_model or VERB.search(goal):
        return None
    if asks_for_simulation(goal):
        return refuse(f"Labcrew does not {SIMULATION.what}. {SIMULATION.instead}")
    if (unserved := find_unserved(goal)) and situation.aims["unserved"] >= MIN_SIGNED_UNSERVED:
        return refuse(f"{unserved.sentence}{_AS_WORKFLOW if unserved.has_workflow else ''}")
    return refuse(_NOT_SERVED) if situation.aims["unserved"] >= MIN_UNSERVED else None


def refuse_procedure(situation: Situation) -> AgentAction | None:
    """Refuse a spelled-out procedure that no query answers: a model was not asked for in its place."""
    wants_model = question.MODEL in situation.answers_to(question.WHICH_QUESTION)
    if not situation.tables or situation.preferences.implies_model or wants_model:
        return None
    procedure = find_procedure(situation.goal.text)
    return refuse(_NO_PROCEDURE.format(procedure)) if procedure else None


def refuse(reason: str) -> AgentAction:
    return finish(Plan(target="?", is_understood=False, notes=[reason]))
