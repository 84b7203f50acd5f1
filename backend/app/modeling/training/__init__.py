"""Fitting of candidates, cross-validation, ensembles, and trained models as bytes."""
