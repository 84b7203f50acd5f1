"""The families of models that an ensemble is made of: each learns while watching rows that do not teach it."""
