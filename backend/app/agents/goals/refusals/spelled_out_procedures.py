"""Procedures that a goal spells out: tests and fits by name, with settings, rows and a format of their own."""

import re

_METHODS = re.compile(
    r"\b(?:ordinary least squares|ols|(?:t|z|f)[- ]?tests?|anova|chi[- ]?squared?|mann[- ]?whitney|wilcoxon"
    r"|kruskal[- ]?wallis|kolmogorov|shapiro|welch|fisher'?s exact|principal components?|pca"
    r"|pearson|spearman|kendall)\b",
    re.IGNORECASE,
)
"""Statistical tests and methods that end in figures, not in predictions."""
_CALL = re.compile(r"\b[A-Z]\w{2,60}\(\s*\w{1,60}\s*=")
"""The call of an estimator with settings: `LogisticRegression(max_iter=1000)`."""
_FORMAT = re.compile(r"@\w{1,60}\[")
"""A form for the answer: `@accuracy[value]`."""
_PREDICTION = re.compile(r"^\W*(?:please\s+)?(?:predict|forecast|classify|estimate)\b", re.IGNORECASE)


def find_procedure(text: str) -> str | None:
    """Return the words by which a goal spells out a procedure; None if it does not."""
    # "Predict the price by OLS" asks for a prediction first, and predictions are served.
    if _PREDICTION.search(text):
        return None
    match = _CALL.search(text) or _METHODS.search(text) or _FORMAT.search(text)
    return match.group().rstrip("(=[ ") if match else None
