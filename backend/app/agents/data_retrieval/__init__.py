"""Fetches the one table that the plan needs."""
