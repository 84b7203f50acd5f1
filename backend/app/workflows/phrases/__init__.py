"""Changes of a workflow from words: phrases become a changed document, or a question."""
