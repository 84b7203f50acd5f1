"""The parts of a column's name, and the words of a goal that are one of them in any form."""

from app.agents.goals.words.abbreviations import unabbreviate
from app.agents.goals.words.joined_names import shortens
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import IDENTIFIER_WORDS, SECONDS_BY_UNIT, UNITS_OF_MEASURE, word_set

_MARKS = word_set(
    "is has had was were flag flg yn ind indicator bool n cnt num count nr no number incl included"
)
"""Parts of names of flags and counts that say nothing of what they are about."""
_TIMES = frozenset(map(stem, SECONDS_BY_UNIT))


def parts_of_name(name: str) -> list[str]:
    """Return the stems of a name, without units and marks."""
    parts = [part for part in words(name) if part not in UNITS_OF_MEASURE | IDENTIFIER_WORDS]
    # The stem of a plural may be abbreviated, and that of what it is short for counts.
    name_stems = [
        stem(unabbreviate(stem(unabbreviate(part))))
        for part in parts
        if part not in _MARKS and not part.isdecimal()
    ]
    return [part for part in name_stems if part not in _TIMES] or name_stems


def names_whole(text: str, name: str) -> bool:
    """Test if a text is a name, or if each of its words names a part of it: "csat" of `csat_score`."""
    parts = parts_of_name(name)
    return text.casefold() == name.casefold() or all(
        any(names_part(word, part) for part in parts) for word in words(text)
    )


def names_part(word: str, part: str) -> bool:
    """Test if a word is a part of a name, its adjective (`foggy`: fog) or the word that it shortens."""
    if part in (stem(word), stem(unabbreviate(word))):
        return True
    noun = word.removesuffix("y")
    if noun != word and part in (stem(noun), stem(noun[:-1]) if noun[-2:-1] == noun[-1:] else ""):
        return True
    return shortens(part, word)
