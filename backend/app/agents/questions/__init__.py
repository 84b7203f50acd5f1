"""Parsing of questions about tables into query plans."""
