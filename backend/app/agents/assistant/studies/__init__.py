"""Studies of the crew started, forked and compared from a conversation."""
