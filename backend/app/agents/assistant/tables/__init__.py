"""Tables of a conversation: which are meant, what their columns hold, new columns, tables and files."""
