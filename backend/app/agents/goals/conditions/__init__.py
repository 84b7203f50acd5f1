"""The rows that a goal is about, and their SQL."""
