"""Forks: sessions that begin as a copy of another up to a recorded point."""
