"""Columns of answers that are named by a period: the first moment of each stands for all of it."""

MIDNIGHT = "T00:00:00"
FIRST_DAYS = {"month": "-01", "quarter": "-01", "year": "-01-01"}
"""Ends of the first days of periods in ISO 8601, by the names of their columns."""
