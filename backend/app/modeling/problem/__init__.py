"""The prediction problem and the vocabulary around it: metrics, families, results. Imports no pandas."""
