"""The policy for SQL of agents and users: one SELECT, functions of an allow-list, bounded parsing."""
