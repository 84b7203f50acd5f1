"""Detection of columns that reveal the target."""
