"""The tables of a question: their rows together, and the columns that they imply without storing them."""
