"""Splits of rows: the hold-out, the folds, and checks of the rows that they leave."""
