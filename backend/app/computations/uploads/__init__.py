"""Reading what a user sends: any table file becomes one Parquet file of five plain types."""
