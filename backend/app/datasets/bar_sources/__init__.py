"""Sources of price bars: files and exchanges."""
