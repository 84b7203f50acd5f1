"""Conditions of a question on the rows: dates, numbers, texts, stored values and missing values."""
