"""Driving a session: from a claim until it waits, has used its time slice, or ends."""
