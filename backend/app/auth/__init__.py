"""Who is calling: users, tokens, API keys."""
