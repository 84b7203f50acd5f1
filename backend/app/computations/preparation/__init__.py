"""Preparation of a table for models: the hold-out split, exploration, and recipes of features."""
