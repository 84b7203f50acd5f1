"""Metrics of predictions with their uncertainty, and the postprocessing that is learned from them."""
