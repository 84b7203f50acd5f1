"""Marking of the items of a question with the columns, values and tables that they may mean."""
