"""Commands that begin a session, or follow, answer, compare and download one."""
