"""The reading of a goal in a sentence that is shown before time is spent, with its confidence."""

from collections.abc import Sequence

from app.agents.goals.row_conditions import describe_conditions
from app.agents.goals.target import NAMED_SCORE, ScoredColumn, TargetMatch
from app.agents.planner.output import Plan, Understanding
from app.agents.planner.step_descriptions import describe_horizon
from app.agents.planner.stored_prices import PRICES
from app.agents.planner.value_descriptions import describe_values, example_values

MAX_ALTERNATIVES = 3
"""Other readings that are shown."""
MAX_CONFIDENCE = 0.97
"""Confidence in a column that the goal names as it stands: its user may still mean another."""
ANSWER_CONFIDENCE = 1.0
"""Confidence in a target that the user chose."""
_RIVAL_SHARE = 0.25
"""Share of the evidence below which another column takes nothing from the confidence."""


def understand_prediction(
    plan: Plan, match: TargetMatch, target: ScoredColumn, is_answer: bool
) -> Understanding:
    """Describe the reading of a goal that asks for a prediction."""
    rivals = [option for option in match.options if option.column.name != target.column.name]
    return Understanding(
        text=describe_prediction(plan, target),
        examples=example_values(target.column),
        confidence=ANSWER_CONFIDENCE if is_answer else estimate_confidence(target.score, rivals),
        alternatives=[
            option.column.name
            for option in rivals[:MAX_ALTERNATIVES]
            if option.score > _RIVAL_SHARE * target.score
        ],
    )


def estimate_confidence(score: float, rivals: Sequence[ScoredColumn]) -> float:
    """Estimate the probability of a reading from the strength of its evidence and the lead over the next."""
    strength = min(score / NAMED_SCORE, 1.0)
    next_score = max((rival.score for rival in rivals), default=0.0)
    lead = 1.0 - max(0.0, next_score / score - _RIVAL_SHARE) / (1.0 - _RIVAL_SHARE) if score else 0.0
    return round(min(MAX_CONFIDENCE, (0.4 + 0.6 * strength) * (0.5 + 0.5 * lead)), 2)


def describe_prediction(plan: Plan, target: ScoredColumn) -> str:
    """Describe the target with its range or classes, the horizon, the tables and what is left out."""
    details = describe_values(target.column)
    if plan.cut:
        details = f"{'above' if plan.cut.above else 'below'} {plan.cut.value:g} or not"
    elif plan.positive_class is not None:
        details = f"is it {plan.positive_class!r}? {details}"
    ahead = f" {describe_horizon(plan)}" if plan.horizon else ""
    outlook = f"the {plan.outlook} of " if plan.outlook in ("direction", "change", "volatility") else ""
    tables = ", ".join(f"`{name}`" for name in plan.tables)
    source = "the stored prices" if plan.source == "prices" else tables
    exclusions = f", without {', '.join(f'`{name}`' for name in plan.exclude)}" if plan.exclude else ""
    values = f" ({details})" if details and target.table is not PRICES else ""
    rows = f", only rows where {describe_conditions(plan.filter)}" if plan.filter else ""
    return f"I will predict {outlook}`{plan.target}`{values}{ahead} from {source}{rows}{exclusions}."
