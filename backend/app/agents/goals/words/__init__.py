"""Words of goals, questions and columns: tokens, stems, vocabulary, concepts, and their meaning as vectors."""
