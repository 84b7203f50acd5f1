"""Saved workflows: their language, versions and patches, and their runs as query plans."""
