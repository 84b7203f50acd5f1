"""Families of models. Each family validates itself while it trains and stops early."""
