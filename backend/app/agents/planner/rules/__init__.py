"""Rules of the offline planner: each reads a situation and acts, or leaves it to the next."""
