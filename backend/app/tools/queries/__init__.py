"""Tools that answer by SQL, a query plan or a program, and charts of the answers."""
