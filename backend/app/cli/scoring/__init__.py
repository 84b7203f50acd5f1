"""Evaluation of the crew: goals with checkable answers, sent to the real service."""
