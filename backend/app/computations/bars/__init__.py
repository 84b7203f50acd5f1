"""Bars of prices: found in any table, judged one by one, and laid out as Postgres takes and gives them."""
