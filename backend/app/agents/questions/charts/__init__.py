"""Charts that a text asks for: its words, and the rows and axes that they mean."""
