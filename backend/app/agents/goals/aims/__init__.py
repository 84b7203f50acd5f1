"""The aim of a goal: the kind of request, with probabilities."""
