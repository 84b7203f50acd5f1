"""Forecasts of series: the time axes and layout of a table, what a goal asks for of it, and its SELECT."""
