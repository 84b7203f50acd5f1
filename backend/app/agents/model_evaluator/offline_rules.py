"""The model evaluator without a provider: a table of rules for each of its two stages."""

from app.agents.model_evaluator import evaluation_rules, tuning_rules
from app.agents.model_evaluator.brief import EvaluationBrief, TuningBrief
from app.agents.runtime.offline_policy import make_policy
from app.modeling.facts.conversion import parse_facts

decide_evaluation = make_policy(evaluation_rules.RULES, lambda brief: parse_facts(EvaluationBrief, brief))
decide_tuning = make_policy(tuning_rules.RULES, lambda brief: parse_facts(TuningBrief, brief))
