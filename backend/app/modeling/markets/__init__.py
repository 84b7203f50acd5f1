"""Backtests with costs, strategies, and the statistical significance of their returns."""
