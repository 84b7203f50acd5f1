"""Benchmarks of the web page."""
