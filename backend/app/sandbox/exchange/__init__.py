"""Requests to cells and their outcomes, as a worker, a zygote and a cell tell one another."""
