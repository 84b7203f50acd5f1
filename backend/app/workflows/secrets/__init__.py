"""Secrets of owners: written, used by requests, and never read back."""
