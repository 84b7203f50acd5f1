"""Measurement of the conditions that a score rests on."""
