"""The prediction problem and its vocabulary: kinds, metrics, families. Imports no pandas."""
