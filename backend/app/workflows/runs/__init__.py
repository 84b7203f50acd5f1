"""Runs of workflows: sessions of the graph `workflow`, a step for each node that does something."""
