"""Everything that waits for a user."""
