"""Discovery of joins between uploaded tables: keys, cardinalities, and the SELECT that joins them."""
