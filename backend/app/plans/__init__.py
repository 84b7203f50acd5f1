"""Query plans: a typed relational language and its compiler to SQL. Pure."""
