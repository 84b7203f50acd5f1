"""Exploration of training rows: findings, leakage, cleaning and suggested features."""
