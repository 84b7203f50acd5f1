"""The way of a command to a service and its database: a given one, the local one, or one started for it."""
