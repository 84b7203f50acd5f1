"""The reading of a goal in a sentence that is shown before time is spent, with its confidence."""

from collections.abc import Sequence

from app.agents.goals.columns.target import ScoredColumn, TargetMatch
from app.agents.goals.conditions.row_conditions import describe_conditions
from app.agents.planner.output import Plan, Understanding
from app.agents.planner.step_descriptions import describe_horizon
from app.agents.planner.stored_prices import PRICES
from app.agents.planner.value_descriptions import describe_values, example_values

MAX_ALTERNATIVES = 3
"""Other readings that are shown."""
BASE_CONFIDENCE, CONFIDENCE_SLOPE = 0.45, 0.4
"""Confidence in a plan by the probability of its target: a line through the shares of right targets on tuned
tables that a fit had not seen, times 0.89: a clear target too may come with a condition, a threshold or a
horizon that was not understood."""
ANSWER_CONFIDENCE = 1.0
"""Confidence in a target that the user chose."""
MIN_RIVAL_PROBABILITY = 0.05
"""Probability from which another column is shown as another reading."""


def understand_prediction(
    plan: Plan, match: TargetMatch, target: ScoredColumn, is_answer: bool
) -> Understanding:
    """Describe the reading of a goal that asks for a prediction."""
    rivals = [option for option in match.options if option.column.name != target.column.name]
    return Understanding(
        text=describe_prediction(plan, target),
        examples=example_values(target.column),
        confidence=ANSWER_CONFIDENCE if is_answer else plan_confidence(target.probability),
        alternatives=[
            option.column.name
            for option in rivals[:MAX_ALTERNATIVES]
            if option.probability >= MIN_RIVAL_PROBABILITY
        ],
    )


def plan_confidence(probability: float) -> float:
    """Return the confidence in a plan whose target has this probability."""
    return round(BASE_CONFIDENCE + CONFIDENCE_SLOPE * probability, 2)


def describe_prediction(plan: Plan, target: ScoredColumn) -> str:
    """Describe the target with its range or classes, the horizon, the tables and what is left out."""
    details = describe_values(target.column) if plan.derivation is None else ""
    if plan.cut:
        details = f"{plan.cut.side} {plan.cut.value:g} or not"
    elif plan.positive_class is not None:
        details = f"is it {plan.positive_class!r}? {details}"
    ahead = f" {describe_horizon(plan)}" if plan.horizon else ""
    outlook = f"the {plan.outlook} of " if plan.outlook in ("direction", "change", "volatility") else ""
    tables = ", ".join(f"`{name}`" for name in plan.tables)
    source = "the stored prices" if plan.source == "prices" else tables
    values = f" ({details})" if details and target.table is not PRICES else ""
    rows = f", only rows where {describe_conditions(plan.filter)}" if plan.filter else ""
    scope = f"from {_describe_columns(plan, target)}{source}{rows}{_describe_exclusions(plan, target)}"
    if plan.wants_drivers:
        return f"I will explain what {outlook}`{plan.target_name}`{values}{ahead} goes with, {scope}."
    return f"I will predict {outlook}`{plan.target_name}`{values}{ahead} {scope}."


def _describe_columns(plan: Plan, target: ScoredColumn) -> str:
    """Describe the only inputs before the source; nothing where most columns are inputs."""
    inputs = _only_inputs(plan, target)
    return f"only {_name_all(inputs)} of " if inputs else ""


def _describe_exclusions(plan: Plan, target: ScoredColumn) -> str:
    is_shorter_by_inputs = bool(_only_inputs(plan, target))
    return f", without {_name_all(plan.exclude)}" if plan.exclude and not is_shorter_by_inputs else ""


def _only_inputs(plan: Plan, target: ScoredColumn) -> list[str]:
    """Return the inputs where they are fewer than the excluded columns of the plan's only table; else none."""
    inputs = [column.name for column in target.table.columns if column.name not in (*plan.exclude, plan.target)]
    return inputs if len(plan.tables) == 1 and len(inputs) < len(plan.exclude) else []


def _name_all(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
