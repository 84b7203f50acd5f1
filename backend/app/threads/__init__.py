"""Threads: conversations about data, whose turns are sessions of the graph `chat`."""
