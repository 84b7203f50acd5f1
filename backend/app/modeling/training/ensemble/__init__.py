"""Weighted averages of fitted models."""
