"""Runs: single programs or queries of a user over their tables, each a session of one step."""
