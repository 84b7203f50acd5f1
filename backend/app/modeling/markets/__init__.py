"""What markets need beyond other tables: labels that overlap, splitters that purge, backtests with costs."""
