"""Names and texts of programs: private names, text that becomes a name, and texts of refusals."""
