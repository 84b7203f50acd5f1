"""Tools that fetch and explore tables, and the frames that they leave to later calls."""
