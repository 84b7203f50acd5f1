"""Fitted models: training, evaluation, explanation, prediction, forecast and backtest."""
