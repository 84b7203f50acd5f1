"""The agent loop: prompts, tools, the journal's middleware and offline policies."""
