"""Labels and splits: the target of each row, the hold-out and the folds."""
