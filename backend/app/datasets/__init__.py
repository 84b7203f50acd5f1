"""Uploaded tables and prices: read once, profiled, queried."""
