"""Language of programs: source text to compiled code that calls the guards."""
