"""Evaluation of a model on rows that it was not fitted on, and comparison of candidates."""
