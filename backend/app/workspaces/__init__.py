"""Workspaces: what a conversation has made, as a snapshot of each turn that changed it."""
