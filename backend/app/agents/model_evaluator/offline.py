"""The model evaluator without a provider: a table of rules for each of its two stages."""

from app.agents.model_evaluator import judging, tuning
from app.agents.runtime.policy import follow

decide_evaluation = follow(judging.RULES)
decide_tuning = follow(tuning.RULES)
