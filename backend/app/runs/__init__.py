"""One program or query of a person over their tables: a session of one step."""
