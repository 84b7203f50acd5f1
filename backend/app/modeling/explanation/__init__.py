"""Explanation of a model's predictions and errors, measured on rows that it was not fitted on."""
