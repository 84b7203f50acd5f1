"""Readings of a question composed from the meanings of its words, and scored by how much they explain."""
