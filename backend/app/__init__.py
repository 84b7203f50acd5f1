"""Labcrew: a data-science crew behind an API."""
