"""Formats of files of tables, by the endings of their names."""

ENDINGS = (".csv", ".tsv", ".json", ".parquet", ".xlsx")
