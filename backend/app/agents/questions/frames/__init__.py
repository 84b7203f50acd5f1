"""Forms of questions. Each frame looks for its form in the unused items and makes the plan of an answer."""
