"""Many fitted models as one: whose word counts how much, and the estimator that says the average."""
