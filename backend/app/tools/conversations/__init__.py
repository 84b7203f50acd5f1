"""Tools of the assistant, who answers the messages of a conversation."""
