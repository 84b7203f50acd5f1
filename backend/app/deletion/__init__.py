"""Retention of ended sessions and old rows, and complete deletion on request."""
