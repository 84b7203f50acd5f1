"""Model families that a goal asks for by name: "with a random forest", "compare LightGBM and Ridge"."""

import re

_FAMILIES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (family, re.compile(pattern, re.IGNORECASE))
    for family, pattern in (
        ("LightGBM", r"\b(?:light ?gbm|lgbm)\b"),
        ("XGBoost", r"\bxg ?boost\b"),
        ("CatBoost", r"\bcat ?boost\b"),
        ("LogisticRegression", r"\blogistic regressions?\b|\blogisticregression\b"),
        ("RandomForest", r"\brandom ?forests?\b"),
        ("GradientBoosting", r"\bgradient ?boost(?:ing|ed trees)\b"),
        ("Ridge", r"\bridge (?:regressions?|models?)\b"),
    )
)
_USES = re.compile(
    r"\b(?:us(?:e|ing)|with|by|via|fit(?:ting)?|train(?:ing)?|compar(?:e|ing)|try(?:ing)?|only|between)\b",
    re.IGNORECASE,
)
"""Words that make the mention of a family a request for it."""
_DENIES = re.compile(
    r"\b(?:no|not|without|never|except|instead of|rather than|avoid|than|beat|beats)\b|n't\b", re.IGNORECASE
)
"""Words of a clause that names a family without asking for it."""
_CLAUSE_END = re.compile(r"[.;:!?()]")


def requested_families(text: str) -> tuple[str, ...]:
    """Return the families that the goal asks to fit, in the order of the catalog; empty if it names none.

    A clause with a word of denial or comparison is not read: chat models and the user's preferences can tell.
    """
    # "Better than a random forest" names a family without asking for it.
    clauses = [
        clause for clause in _CLAUSE_END.split(text) if _USES.search(clause) and not _DENIES.search(clause)
    ]
    return tuple(family for family, pattern in _FAMILIES if any(pattern.search(clause) for clause in clauses))
