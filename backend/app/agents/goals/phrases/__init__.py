"""Phrases that a goal is read by, from its words alone: intents, costs, thresholds, causes, limits."""
