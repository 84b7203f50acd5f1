"""The schema on one page and the unit of work."""
