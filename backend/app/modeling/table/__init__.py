"""Columns of a table: their kinds, statistics, samples and JSON values."""
