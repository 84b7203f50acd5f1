"""Phrases of a goal that name what must not be used: "without the postcode", "no gender, please".

An exclusion that says so by its verb is always one; the user hears of a name that no column has. One that is
told by its place in the sentence ("no gender", "the assessment is not there yet") counts for a column only.
"""

import re
from collections.abc import Iterator

_NAME = r"(?P<phrase>[\w'-]{1,30}(?:,? [\w'-]{1,30}){0,6}?)"
_ARTICLE = r"(?:(?:the|any|our|his|her|their|its|a|an) )?"
_START = r"(?:^|[.;:!?,()] ?|\band |\bbut )"
_IS_NOT = r"(?:(?:is|are|was|were) not|(?:is|are|was|were)n't|(?:must|may|can|shall) not be|(?:can|must)n't be)"
_DOES_NOT = r"(?:do(?:es)? not|do(?:es)?n't)"
_END = r"(?: ?[.;:!?()]| ?$| (?:but|since|because|when|while|predict|please|pls|in)\b)"

_BY_VERB = re.compile(
    rf"\b(?:leav(?:e|ing)|keep(?:ing)?) {_ARTICLE}{_NAME} (?:out|aside|away)\b", re.IGNORECASE
)
"""Verbs that stand round the phrase: "leave the postcode and the name out"."""
_BY_PLACE = (
    re.compile(
        r"\b(?:skip(?:ping)?|(?:everything|anything|all(?: columns)?) (?:but|except(?: for)?)"
        r"|never mind|not with|not by|not from|nothing about|forget(?: about)?|hands off"
        r"|(?:do not|don't|dont|without|not) (?:look(?:ing)? at|touch(?:ing)?|tak(?:e|ing)|us(?:e|ing)"
        rf"|know(?:ing)?)) {_ARTICLE}{_NAME}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_START}{_ARTICLE}{_NAME} {_IS_NOT} (?:(?:a|an|yet|there|even|to be) ){{0,2}}"
        r"(?:predictors?|inputs?|features?|known|available|allowed|used|permitted|there|written|in yet)\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_START}{_ARTICLE}{_NAME} (?:left out|excluded|(?:is|are) (?:off limits|forbidden|taboo)"
        rf"|(?:{_DOES_NOT} (?:count|matter))|(?:{_IS_NOT} counted))\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:not|do not|don't|without) count(?:ing)? {_ARTICLE}{_NAME}{_END}", re.IGNORECASE),
)
"""Phrases told by their place: "skip the sick days", "the invoice is not there yet", "returns do not count"."""
_CLAUSE_END = re.compile(r"[.;:!?,()]")
_NO = re.compile(
    rf"^(?:and |or |but )?no {_ARTICLE}{_NAME}(?: (?:please|pls|either|in the model))?$", re.IGNORECASE
)
"""A clause that is an exclusion as a whole: "no date of birth"."""
_PARTS = re.compile(r",|\band\b|\bor\b|\bnor\b")
_LEADING = re.compile(
    r"^\s*(?:any|the|all|its|their|his|her|our|columns?|who|what|whose)\s+|[`'\"]", re.IGNORECASE
)


def exclusions_by_verb(text: str) -> Iterator[str]:
    """Yield the phrases between "leave" and "out"."""
    for match in _BY_VERB.finditer(text):
        yield from split_phrases(match["phrase"])


def exclusions_by_place(text: str) -> Iterator[str]:
    """Yield phrases that exclude a column if they name one."""
    # By clauses: "no" counts where it begins one ("no gender"), not in "predict no show".
    for clause in _CLAUSE_END.split(text):
        if match := _NO.match(clause.strip()):
            yield from split_phrases(match["phrase"])
    for pattern in _BY_PLACE:
        for match in pattern.finditer(text):
            yield from split_phrases(match["phrase"])


def split_phrases(phrases: str) -> Iterator[str]:
    """Split a list of names ("the age, gender and the name") into names without articles."""
    for part in _PARTS.split(phrases):
        if name := _LEADING.sub("", part).strip():
            yield name
