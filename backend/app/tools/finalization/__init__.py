"""Tools of the pipeline for the chosen model: final evaluation, refit, explanation, backtest and forecast."""
