"""Cells as a worker asks for them: starting zygotes, sending requests, keeping cells warm."""
