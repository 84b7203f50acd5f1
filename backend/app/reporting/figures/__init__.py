"""Facts in, drawings out. Imports matplotlib, so only computations (cells) may import this package."""
