"""Tools of the trainer and the evaluator: rounds of fits, their comparison, and custom code."""
