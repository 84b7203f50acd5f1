"""Tables of persons at cutoffs, made of transactions: the goals that ask for them, and their SELECT."""
