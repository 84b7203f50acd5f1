"""Workflows made, changed and run from a conversation."""
