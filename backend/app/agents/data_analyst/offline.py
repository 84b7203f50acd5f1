"""The data analyst without a provider: a table of rules for each of its stages."""

from app.agents.data_analyst import answering, exploring, preparing
from app.agents.runtime.policy import follow

decide_analysis = follow(exploring.RULES)
decide_answer = follow(answering.RULES)
decide_features = follow(preparing.RULES)
