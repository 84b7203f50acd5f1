"""Structure among the rows of a table without a target: rows that do not fit the others, and groups of rows."""
