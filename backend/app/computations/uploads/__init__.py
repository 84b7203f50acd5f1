"""Conversion of uploads: a table file of any format becomes one Parquet file of five plain types."""
