"""Questions about the data: parsed where the words are plain, and written as one SELECT."""
