"""The model evaluator without a provider: a table of rules for each of its two stages."""

from app.agents.model_evaluator import judging, tuning
from app.agents.runtime.policy import make_policy

decide_evaluation = make_policy(judging.RULES)
decide_tuning = make_policy(tuning.RULES)
