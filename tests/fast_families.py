"""Families of models that are fitted in a moment, for sessions of tests that are not about models."""

FAST_FAMILIES = {"families": ["Ridge", "LogisticRegression"]}
"""A preference of a session. With every family a session on 300 rows takes twice the processor time."""
