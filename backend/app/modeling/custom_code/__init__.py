"""Agent-written features and estimators, run only by an interpreter that the caller provides."""
