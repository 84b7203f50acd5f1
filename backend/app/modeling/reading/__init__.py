"""What the cells of a raw table mean: numbers, dates and booleans that came as text, and words for missing."""
