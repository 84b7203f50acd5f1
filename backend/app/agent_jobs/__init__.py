"""Jobs of machines: prompts that come by the Redis queue or by HTTP, each answered once."""
