"""Facts as JSON: what computations return and tools record, and the code that reads it. Imports no pandas."""
