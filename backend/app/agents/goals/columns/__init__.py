"""Schema linking: which column of its tables a goal means, stored or derived, and how probably."""
