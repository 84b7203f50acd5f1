"""Chooses candidates for the frame and the clock, and has them fitted."""
