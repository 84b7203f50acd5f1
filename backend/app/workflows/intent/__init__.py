"""Lanes of a message: data for now, or a lasting change of a workflow."""
