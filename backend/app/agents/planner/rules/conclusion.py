"""The plan of a prediction, once nothing of the goal is open."""

from app.agents.planner import price_questions
from app.agents.planner.output import Plan
from app.agents.planner.plan import make_plan
from app.agents.planner.planner_facts import Situation
from app.agents.planner.rules.plan_request import make_plan_request
from app.agents.planner.trading import add_trading_terms
from app.agents.planner.understanding import describe_prediction, understand_prediction
from app.agents.runtime.offline_policy import AgentAction, finish

NO_COLUMN = "None of the tables has a column that can be predicted."


def conclude(situation: Situation) -> AgentAction:
    if situation.is_coin_declined:
        missing = " and ".join(situation.mentioned_coins)
        note = price_questions.describe_missing_coin(situation.stored_coins, missing)
        return finish(Plan(target="?", notes=[note]))
    target = situation.target
    if target is None or situation.is_stopped:
        reason = "There is nothing to predict." if situation.is_stopped else NO_COLUMN
        return finish(Plan(target="?", notes=[reason]))
    plan = make_plan(make_plan_request(situation, target))
    plan = add_trading_terms(plan, situation, target)
    is_answer = bool(situation.target_answers) or situation.preferences.target is not None
    understanding = understand_prediction(plan, situation.match, target, is_answer)
    plan = plan.model_copy(update={"understanding": understanding})
    return finish(plan, message=" ".join([describe_prediction(plan, target), *plan.notes]))
