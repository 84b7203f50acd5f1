"""Matching of words with columns and stored values: by name, abbreviation, spelling, concept and use."""
