"""Words that a name of a column writes in one (`agefirstbirth`, `marketval`), and words that it shortens."""

from functools import lru_cache
from math import log

from app.agents.goals.words.abbreviations import unabbreviate
from app.agents.goals.words.concepts import is_known_word
from app.agents.goals.words.sentence_encoder import is_whole_piece
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vectors import frequency_rank, known_words
from app.agents.goals.words.vocabulary import word_set

MIN_JOINED_LETTERS, MAX_JOINED_LETTERS = 5, 40
"""Letters of a word that may be two: a shorter one is rather an abbreviation, a longer one no name."""
MAX_PIECES = 5
"""Words that a name joins: more are rather found in it by chance."""
MIN_PIECE_LETTERS = 4
"""Letters from which any word of English may be a piece: of shorter ones the vocabulary has many initials."""
_SHORT_PIECES = word_set(
    """
    age air all any bad bed bin bus buy car cat cut day dog due egg end eye fat fee fit gas get gun has hit hot
    ice ill job key kid law lot low man max men min net new non num off oil old one out own pay per pet pop pre
    red run sea set sex sum sun tax tea tip top tot two use vol war wet win won avg cum std med fam mom boy lit
    ind
    """
)
"""Words of three letters that names are joined of."""
_PARTICLES = word_set("at by in no of on to up")
"""Words of two letters that stand between others (`yearsatfirm`)."""
_ENDINGS = ("s", "es", "ed", "er", "ers", "ing", "ly")


def column_words(name: str) -> list[str]:
    """Return the words of a column's name, those that it writes in one apart."""
    return [piece for word in words(name) for piece in split_joined(word)]


@lru_cache(maxsize=20_000)
def split_joined(word: str) -> tuple[str, ...]:
    """Split a word that is none of English into the fewest, most frequent words that it is joined of."""
    if not word.isalpha() or not MIN_JOINED_LETTERS <= len(word) <= MAX_JOINED_LETTERS:
        return (word,)
    # A carpet is no pet in a car.
    if _is_word(word) or _is_inflected(word) or is_whole_piece(word):
        return (word,)
    # The best split of each beginning of the word: the fewest pieces, and of these the most frequent ones.
    best: list[tuple[str, ...] | None] = [()] + [None] * len(word)
    for end in range(2, len(word) + 1):
        for start in range(end - 1):
            before = best[start]
            if before is not None and _is_piece(word[start:end]):
                pieces = (*before, word[start:end])
                own = best[end]
                if own is None or _cost(pieces) < _cost(own):
                    best[end] = pieces
    split = best[-1]
    return split if split and len(split) <= MAX_PIECES and not {split[0], split[-1]} & _PARTICLES else (word,)


def _cost(pieces: tuple[str, ...]) -> tuple[int, float]:
    return len(pieces), sum(log(1 + frequency_rank(piece)) for piece in pieces)


def _is_word(word: str) -> bool:
    return bool(known_words([word])) or unabbreviate(word) != word or is_known_word(stem(word))


def _is_inflected(word: str) -> bool:
    own = stem(word)
    return word.removeprefix(own) in _ENDINGS and bool(known_words([own]))


def _is_piece(text: str) -> bool:
    if text in _SHORT_PIECES or text in _PARTICLES or (len(text) > 2 and unabbreviate(text) != text):
        return True
    return len(text) >= MIN_PIECE_LETTERS and (bool(known_words([text])) or is_known_word(stem(text)))


MIN_SHORTENED_LETTERS = 3
"""Letters of a word that shortens a longer one: two may be initials of anything."""
MIN_SHARE_OF_CONSONANTS = 0.5
"""Share of the consonants of a word that its short form keeps: `divd` has three of the five of `dividend`."""
_VOWELS = frozenset("aeiou")


@lru_cache(maxsize=20_000)
def shortens(part: str, word: str) -> bool:
    """Tell if a part of a name that is no word shortens a word: to its beginning or its consonants.

    `occ` shortens occasion, `wng` wing.
    """
    if len(part) < MIN_SHORTENED_LETTERS or len(part) >= len(word) or part[0] != word[0] or not part.isalpha():
        return False
    # A word of its own is meant as it stands: `rat` shortens no rating.
    if _is_word(part):
        return False
    own = stem(word)
    if own.startswith(part):
        return True
    letters = iter(word)
    if not all(letter in letters for letter in part):
        return False  # its letters do not stand in the word in their order
    own_consonants, consonants = _consonants(part), _consonants(own)
    return len(own_consonants) >= max(2, MIN_SHARE_OF_CONSONANTS * len(consonants))


def _consonants(word: str) -> str:
    return "".join(letter for place, letter in enumerate(word) if not place or letter not in _VOWELS)
