"""Reads the goal and decides what is predicted, from which tables, and how well is judged."""
