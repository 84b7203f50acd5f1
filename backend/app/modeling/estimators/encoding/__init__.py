"""Encoding of columns as numbers: what is learned from one column, for each style of estimator."""
