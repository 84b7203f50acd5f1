"""A durable run of any graph: what it is, where it stands, how it is driven."""
