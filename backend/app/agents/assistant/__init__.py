"""The assistant: answers the messages of a conversation about data."""
