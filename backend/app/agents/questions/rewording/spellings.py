"""British and American spellings: a question's `color` means a column `colour`, its `gray` the value `grey`."""

import re
from collections.abc import Sequence
from functools import lru_cache

from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.tokenizer import words

MIN_LETTERS = 4
"""Letters of a word that two spellings are known of."""
MAX_VALUES = 200
"""Values of a column whose spellings are compared."""
_AMERICAN = (
    (re.compile(r"our(?=$|s$|ed$|ing$|ful|less|hood|ite|able|al)"), "or"),
    (re.compile(r"(?<=[tbvc])re(?=$|s$|d$)"), "er"),
    (re.compile(r"(?<=[a-z]{2})is(?=e$|es$|ed$|er$|ers$|ing$|ation)"), "iz"),
    (re.compile(r"ys(?=e$|es$|ed$|er$|ing$)"), "yz"),
    (re.compile(r"ll(?=ed$|er$|ers$|ing$|ery$)"), "l"),
    (re.compile(r"ogue(?=$|s$)"), "og"),
    (re.compile(r"amme(?=$|s$)"), "am"),
    (re.compile(r"(?<=[a-z])ence(?=$|s$)"), "ense"),
    (re.compile(r"ae|oe"), "e"),
    (re.compile(r"ph(?=ur|ide|ate)"), "f"),
    (re.compile(r"^grey"), "gray"),
    (re.compile(r"^tyre"), "tire"),
    (re.compile(r"^mould"), "mold"),
    (re.compile(r"^plough"), "plow"),
    (re.compile(r"^yoghurt"), "yogurt"),
    (re.compile(r"^doughnut"), "donut"),
    (re.compile(r"^alumin(?:i)?um"), "aluminum"),
    (re.compile(r"^jewell?e?ry"), "jewelry"),
)
"""Endings and words that the two write differently, and how both are compared."""
_WORD = re.compile(r"[A-Za-z]{4,30}")


def respell(question: str, tables: Sequence[TableProfile]) -> str:
    """Write words of a question as the tables spell them, where they only differ by the country."""
    stored = {word for table in tables for word in stored_words(table) if len(word) >= MIN_LETTERS}
    by_spelling: dict[str, str] = {}
    for word in sorted(stored):
        by_spelling.setdefault(_american(word), word)

    def own(match: re.Match[str]) -> str:
        word = match[0].lower()
        # A word that the tables spell in this way is meant as it is, whatever else it resembles.
        if word in stored:
            return match[0]
        singular = by_spelling.get(_american(word.removesuffix("s")))
        plural = f"{singular}s" if singular and word.endswith("s") else match[0]
        return by_spelling.get(_american(word), plural)

    return _WORD.sub(own, question)


def stored_words(table: TableProfile) -> set[str]:
    """Return the words of the names and texts of a table."""
    texts = [table.name]
    for column in table.columns:
        texts.append(column.name)
        if column.type == "text":
            texts += [str(value) for value in [*column.values, *column.top][:MAX_VALUES]]
    return {word for text in texts for word in words(text)}


@lru_cache(maxsize=20_000)
def _american(word: str) -> str:
    """The word in American spelling; of other words something that only other spellings of them become too."""
    for pattern, replacement in _AMERICAN:
        word = pattern.sub(replacement, word)
    return word
