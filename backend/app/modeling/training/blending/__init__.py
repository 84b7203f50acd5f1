"""Blending of candidates: their weights, pairs of models for known and new entities, and the final refit."""
