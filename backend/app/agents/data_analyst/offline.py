"""The data analyst without a provider: a table of rules for each of its stages."""

from app.agents.data_analyst import answering, looking, preparing
from app.agents.policy import follow

decide_analysis = follow(looking.RULES)
decide_answer = follow(answering.RULES)
decide_features = follow(preparing.RULES)
