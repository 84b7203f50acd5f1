"""Search in everything that a user has."""
