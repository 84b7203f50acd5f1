"""Steps that extend a sketch by the next words of a question: nouns, numbers, values and words of grammar."""
