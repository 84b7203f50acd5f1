"""Values that a program may hold, and what stands in for classes and functions that it may not."""
