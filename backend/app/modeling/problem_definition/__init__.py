"""Definition of the prediction problem from a request and a table."""
