"""Programs of questions: what is asked for, smaller than a query plan, and the plans that they come to."""
