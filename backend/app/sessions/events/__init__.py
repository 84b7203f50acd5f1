"""Events of a session: the closed union, the durable log, and the live stream of watchers."""
