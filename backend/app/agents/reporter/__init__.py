"""Writes down what was found, for a person."""
