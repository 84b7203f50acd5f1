"""Streams of events: server-sent, over WebSockets, and progress as JSON Lines."""
