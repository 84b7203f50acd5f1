"""The analyst: answers the messages of a conversation about data."""
