"""Stemming of the words of goals, questions and names of columns."""

from functools import lru_cache

from snowballstemmer import stemmer

from app.agents.goals.words.tokenizer import cache_texts, words

_ENGLISH = stemmer("english")
_AGENT_ENDINGS = ("or", "er")
_MIN_AGENT = 7
"""Letters of a stem that loses the ending of an agent: `sensor` and `number` are none."""

_OWN_STEMS = {"department": "department", "departments": "department"}
"""Words that Snowball takes for a form of another one: who departs leaves no department."""

MAX_CACHED_WORD_CHARACTERS = 64
"""Longest word whose stem is cached, so that user input cannot fill the memory."""


def stem(word: str) -> str:
    """Return the English stem of a word: survive, survived, survival and survivors share one."""
    return _stem(word) if len(word) <= MAX_CACHED_WORD_CHARACTERS else _stem.__wrapped__(word)


@lru_cache(maxsize=10_000)
def _stem(word: str) -> str:
    if word in _OWN_STEMS:
        return _OWN_STEMS[word]
    english: str = _ENGLISH.stemWord(word)
    # Snowball keeps the endings of agents: survivors survived.
    if english.endswith(_AGENT_ENDINGS) and len(english) >= _MIN_AGENT:
        return english[:-2]
    return english


_AGENTS = ("ant", "ent", "or", "er")
"""Endings of nouns of who does something."""
_EVENTS = ("ion", "ment", "ance", "ence", "ing")
"""Endings of nouns of what is done."""


def tells_agent_from_event(first: str, second: str) -> bool:
    """Tell if of two words of one stem one is who does what the other is: `applicant` and `application`."""
    return {_kind_of_noun(first), _kind_of_noun(second)} == {"agent", "event"}


def _kind_of_noun(word: str) -> str:
    singular = word.removesuffix("s")
    if singular.endswith(_EVENTS):
        return "event"
    return "agent" if singular.endswith(_AGENTS) else ""


_NOUN_ENDINGS = (
    ("olution", "olv"),
    ("uction", "uc"),
    ("ission", "it"),
    ("cription", "crib"),
    ("ception", "ceiv"),
    ("sumption", "sum"),
    ("emption", "eem"),
    ("ension", "end"),
    ("tention", "tain"),
    ("version", "vert"),
    ("usion", "ud"),
    ("ision", "id"),
    ("ication", "i"),
)
"""Endings of nouns of what is done whose verb has another stem, and the ends of the stems of those verbs."""


def is_nominalization(first: str, second: str) -> bool:
    """Tell if of two words one is the noun of what the other, a verb, does: `resolution`, `resolved`."""
    return any(
        noun.removesuffix("s").endswith(ending)
        and stem(verb) == noun.removesuffix("s").removesuffix(ending) + end
        for noun, verb in ((first, second), (second, first))
        for ending, end in _NOUN_ENDINGS
    )


def stems(text: str) -> list[str]:
    """Return the stems of a text's words."""
    return list(_stems(text))


@cache_texts
def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, words(text)))
