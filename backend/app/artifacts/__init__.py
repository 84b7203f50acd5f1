"""Artifacts, the outputs of sessions: rows by owner, bytes by content address."""
