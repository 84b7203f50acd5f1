"""Type inference: numbers, dates and booleans written as text, and spellings of missing values."""
