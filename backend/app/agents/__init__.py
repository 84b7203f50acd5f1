"""The crew: one folder an agent, one loop for all."""
