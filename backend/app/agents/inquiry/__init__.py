"""A question about the data: read from its words where they are plain, and written as one SELECT."""
