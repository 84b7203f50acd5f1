"""Features and estimators written as source code, run only under a language that a caller provides."""
