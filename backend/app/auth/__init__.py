"""Authentication, quotas and rate limits: users, tokens, API keys."""
