"""What a session leaves behind: rows by owner, bytes by content address."""
