"""Forecasts of a series from itself: what a learned model has to beat."""
