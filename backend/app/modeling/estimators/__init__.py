"""Estimators by name: encoders, families of models and their parameters."""
