"""Rows that a session waits for: questions with their answers, rounds and fits."""
