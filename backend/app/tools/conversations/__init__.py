"""Tools of the analyst, who answers the messages of a conversation."""
