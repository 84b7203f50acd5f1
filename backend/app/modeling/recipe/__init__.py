"""Feature recipes: operations that are fitted on training rows and applied to any rows."""
