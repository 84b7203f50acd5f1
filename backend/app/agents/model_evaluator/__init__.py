"""Compares candidates, decides whether tuning is worth it, and says what to trust."""
