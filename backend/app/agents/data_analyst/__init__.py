"""Looks at the training frame, cleans it and builds its features."""
