"""Columns -> numbers: what is learned of one column, and how each style of estimator sees it."""
