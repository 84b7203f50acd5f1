"""Content-addressed bytes behind one protocol."""
