"""Features of a goal for the classifier of its aim: words and pairs, shape, meaning, matches in the tables."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from app.agents.goals.clauses import has_request
from app.agents.goals.goal import Goal
from app.agents.goals.periods import vocabulary as period_vocabulary
from app.agents.goals.periods.phrases import read_frequency
from app.agents.goals.phrases.patterns import VERB
from app.agents.goals.refusals.languages import foreign_language
from app.agents.goals.refusals.unserved_requests import find_unserved
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.concepts import is_known_word
from app.agents.goals.words.sentence_encoder import encode
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import FUNCTION_WORDS, word_set

MAX_WORDS = 60
"""Words of a goal that are looked at: the request of a longer text stands at its beginning."""
MAX_VALUES = 30
"""Values of a column whose words count as values: profiles list fewer."""
MIN_VALUE_LETTERS = 3
"""Letters of a word that is recognised as a value: shorter ones stand in any sentence."""
MAX_TEXT = 300
"""Characters of a goal that are encoded: the encoder reads 64 pieces of words."""
ENCODING_SCALE = 3.0
"""Factor of the encoding, whose numbers are small beside the 0 and 1 of words: of 3 and 6 the better one."""
_LENGTHS = (2, 4, 7, 12, 20)
"""Bounds of the classes of length, in words."""
_CUES = FUNCTION_WORDS | word_set(
    """
    how many much long often which who what when where why whether will would going next per each every by
    average mean total sum most least top share number count predict forecast estimate expect guess tell find
    show give list compare was were did last than more less over under above below between only ever never
    should can could make makes drive drives affect does do is are if up down
    """
)
"""Words whose pairs count wherever they stand: they shape a request, whatever it is about."""
_COLUMN, _VALUE, _TABLE, _NUMBER, _YEAR = "<column>", "<value>", "<table>", "<number>", "<year>"
_SUPERLATIVE = re.compile(
    r"\b(?:most|least|top \d+|(?!test|rest|west|nest|guest|quest|forest|interest|request|harvest|invest|honest)"
    r"[a-z]{2,14}est)\b",
    re.IGNORECASE,
)
_ASKED_PAST = re.compile(
    r"^\W*(?:who|whose|which|what|where|when|how)\b.{0,80}?\b(?:was|were|did|had|has|have|made|sent|got|sold|bought"
    r"|took|gave|went|paid|spent|won|lost|came|ran|wrote|held|kept|grew|fell|rose|saw|met|ate|drove|flew|[a-z]{3,14}ed)\b",
    re.IGNORECASE | re.DOTALL,
)
"""A question about what happened, by a verb in the past tense behind its first word."""
_BOUND = re.compile(
    r"\b(?:above|below|over|under|between|than|least|exceed\w{0,3}|within)\s{1,3}\W?\d", re.IGNORECASE
)
_FIGURE = re.compile(
    r"\b(?:averages?|means?|medians?|totals?|sums?|percentages?|percent|shares?|proportions?|fractions?|ratios?|ranges?"
    r"|distributions?|correlations?|maximum|minimum|max|min|counts?)\b",
    re.IGNORECASE,
)
_YEAR_NUMBER = re.compile(r"(?:19|20)\d\d")


def aim_features(goal: Goal, tables: Sequence[TableProfile]) -> dict[str, float]:
    """Return the features of a goal by name; those that are missing are 0."""
    tokens = words(goal.text)[:MAX_WORDS]
    # Names of columns and values become tags, so that weights of one table's words hold for other tables.
    tags = _tag(tokens, tables)
    features = dict.fromkeys(_word_features(tokens, tags), 1.0)
    features |= dict.fromkeys(_shape_features(goal, tokens, tags), 1.0)
    content = [token for token in tokens if token not in FUNCTION_WORDS and token.isalpha()]
    recognised = [
        token for token, tag in zip(tokens, tags, strict=True) if tag != token or is_known_word(stem(token))
    ]
    features["known share"] = len(recognised) / max(1, len(tokens))
    features["content share"] = len(content) / max(1, len(tokens))
    encoding = encode([goal.text[:MAX_TEXT]])[0]
    return features | {
        f"encoded {place}": ENCODING_SCALE * float(value) for place, value in enumerate(encoding)
    }


def _tag(tokens: Sequence[str], tables: Sequence[TableProfile]) -> list[str]:
    """Return each word, or in its place what it matches in the tables."""
    columns = {part for table in tables for column in table.columns for part in stems(column.name)}
    names = {part for table in tables for part in stems(table.name)}
    values = {
        part
        for table in tables
        for column in table.columns
        if not column.is_number and column.type != "datetime"
        for value in column.top[:MAX_VALUES]
        for part in stems(str(value))
        if len(part) >= MIN_VALUE_LETTERS
    }
    return [_tag_word(token, columns, names, values) for token in tokens]


def _tag_word(token: str, columns: set[str], names: set[str], values: set[str]) -> str:
    if token[0].isdigit():
        return _YEAR if _YEAR_NUMBER.fullmatch(token) else _NUMBER
    # A cue shapes the request, even where a column is called `count` or `time`.
    if token in _CUES:
        return token
    word_stem = stem(token)
    for tag, vocabulary in ((_TABLE, names), (_COLUMN, columns), (_VALUE, values)):
        if word_stem in vocabulary:
            return tag
    return token


def _word_features(tokens: Sequence[str], tags: Sequence[str]) -> Iterator[str]:
    for token, tag in zip(tokens, tags, strict=True):
        yield f"word {token if token in _CUES else stem(token)}"
        if tag != token:
            yield f"has {tag}"
    short = [tag if tag in _CUES or tag.startswith("<") else stem(tag) for tag in tags]
    for first, second in pairwise(["^", *short, "$"]):
        yield f"pair {first} {second}"
    cues = sorted({tag for tag in tags if tag in _CUES or tag.startswith("<")})
    for first, second in combinations(cues, 2):
        yield f"both {first} {second}"
    yield f"start {' '.join(short[:2])}"
    yield f"start {' '.join(short[:3])}"


def _shape_features(goal: Goal, tokens: Sequence[str], tags: Sequence[str]) -> Iterator[str]:
    text = goal.text
    rules = {
        "question mark": "?" in text,
        "verb of prediction": bool(VERB.search(text)),
        "driver words": goal.wants_drivers,
        "exploratory words": goal.is_exploratory,
        "no model": goal.wants_no_model,
        "counted horizon": goal.lookahead is not None,
        "outlook": goal.outlook is not None,
        "threshold": goal.threshold is not None,
        "metric": goal.metric is not None,
        "costs": goal.costs is not None,
        "excluded": bool(goal.excluded_phrases),
        "superlative": bool(_SUPERLATIVE.search(text)),
        "asked in the past": bool(_ASKED_PAST.search(text)) and not period_vocabulary.WILL.search(text),
        "bound": bool(_BOUND.search(text)),
        "figure": bool(_FIGURE.search(text)),
        "ahead": bool(period_vocabulary.AHEAD.search(text)),
        "past": bool(period_vocabulary.PAST.search(text)),
        "will": bool(period_vocabulary.WILL.search(text)),
        "period": read_frequency(text) is not None,
        "request": has_request(text),
        "unserved": find_unserved(text) is not None,
        "foreign": foreign_language(text) is not None,
        "several sentences": len(re.findall(r"[.;!?]\s", text)) > 0,
        "repeats a word": len(set(tokens)) < len(tokens),
        "names nothing": not any(tag.startswith("<") for tag in tags),
        f"kind {goal.kind}": True,
    }
    yield from (f"is {name}" for name, holds in rules.items() if holds)
    yield f"length {sum(len(tokens) >= bound for bound in _LENGTHS)}"
