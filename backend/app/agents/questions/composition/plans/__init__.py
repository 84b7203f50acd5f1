"""Query plans that the parts of a sketch mean together, by the form of the answer."""
