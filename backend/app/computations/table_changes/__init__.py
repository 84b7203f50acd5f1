"""SQL statements that change the tables of a conversation, each rewritten as one SELECT."""
