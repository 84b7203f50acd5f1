"""The data analyst without a provider: a table of rules for each of its two stages."""

from app.agents.data_analyst import looking, preparing
from app.agents.policy import follow

decide_analysis = follow(looking.RULES)
decide_features = follow(preparing.RULES)
