"""Goals in plain words: tokens, patterns, columns and values, read without a chat model."""
