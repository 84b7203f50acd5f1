"""The API as the terminal calls it: requests, and responses and events as validated values."""
