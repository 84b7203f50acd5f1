"""The data analyst without a provider: a table of rules for each of its stages."""

from app.agents.data_analyst import answering, exploring, preparing
from app.agents.runtime.policy import make_policy

decide_analysis = make_policy(exploring.RULES)
decide_answer = make_policy(answering.RULES)
decide_features = make_policy(preparing.RULES)
