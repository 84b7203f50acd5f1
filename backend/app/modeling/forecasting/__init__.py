"""Forecasts of time series, and the naive forecasts that a model is compared with."""
