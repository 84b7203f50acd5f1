"""What agents write themselves: features and estimators as source, run only where that is permitted."""
