"""Matching of words with columns: by name, abbreviation, spelling, concept and use."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from app.agents.goals.lexicon.concept_matches import concepts_of_phrase, stored_concepts
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.abbreviations import unabbreviate
from app.agents.goals.words.concepts import expand, share_concept
from app.agents.goals.words.joined_names import shortens
from app.agents.goals.words.stemming import is_nominalization, stem, tells_agent_from_event
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vectors import known_words, most_similar
from app.agents.goals.words.vocabulary import IDENTIFIER_WORDS, UNITS_OF_MEASURE, word_set

NAME, STEM, KIN, BEGINNING, SPELLING, CONCEPT = 1.0, 0.97, 0.95, 0.8, 0.78, 0.7
"""Strength of a match of two words, by its kind; 1 is equality. Kin are of one concept and one beginning."""
WHOLE_NAME, NEEDED_PARTS = 0.98, 0.95
"""Part of the strength of its words that the score of a name has: of all its words but units, and of those
that say what it holds."""
MIN_RELATED_COSINE, MAX_RELATED_STRENGTH = 0.55, 0.55
"""Cosine from which words count as related by use, and the strength of the most related ones."""
MIN_ASKED_SCORE, MAX_ASKED_SCORE = 0.45, 0.75
"""Scores of columns that store what a phrase asks for: one of many such, and the only one."""
MIN_SPELLING_RATIO, MIN_SPELLED_LETTERS = 86.0, 5
"""Similarity in percent, and letters, from which a word is a misspelt name."""
MIN_JOINED_LETTERS = 7
"""Letters of a name that begins a phrase: `gdpPercap` of `gdp per capita`."""
MIN_BEGINNING_LETTERS = 4
"""Letters of a word that begins another one (`temp` and `temperature`)."""
MIN_SCORE, MAX_CANDIDATES = 0.34, 6
"""Scores below which a column is no candidate, and candidates of one phrase."""
MAX_PLAIN_PARTS, MAX_COLUMNS_OF_PART = 500, 200
"""Different words of names that are compared with each word of the question, and columns that share one."""
_GENERIC_PARTS = word_set(
    """
    rate total number value amount score type name level index group count date time avg mean
    """
)
"""Words of names to which no other word is related by its use alone."""
_SALE_WORDS, _PRICE_WORDS = word_set("sell sells sold sale sales"), word_set("price cost value worth amount")
"""Verbs of sales name prices in goals (`what will it sell for`), and quantities in questions."""
_LINKING = word_set(
    """
    of the per in at on a an by and or to from for
    """
)


@dataclass(frozen=True)
class Place:
    """A column of a table."""

    table: str
    column: Column

    @property
    def key(self) -> tuple[str, str]:
        return self.table, self.column.name


@dataclass(frozen=True)
class ColumnMatch:
    """A column that a phrase may mean. `score`: 1 for its full name. `coverage`: share of the name's words."""

    table: str
    column: Column
    score: float
    coverage: float

    @property
    def key(self) -> tuple[str, str]:
        return self.table, self.column.name


TRAILING_UNITS = word_set(
    """
    t ha m2 m3 km2 sqm kw mw w sec secs hr hrs mins yr yrs c lb lbs oz ft mi kmh kph mph dl cl hz db
    ppm ppb hpa kpa kcal kj bpm mmhg gb mb kb chf sek nok dkk pln czk jpy cad aud inr musd meur keur kusd
    """
)
"""Units that only the end of a name marks as such: `planned_t`, `budget_musd`. Those of energy are none: beside
power they say what a number is (`solar_kwh`), and with them a third of the further answers were wrong."""


@lru_cache(maxsize=4_096)
def name_parts(name: str) -> tuple[str, ...]:
    """Words of a column's name, split where it joins two (`bodywt`), in full (`wt`: weight); without units."""
    spelled = words(name)
    while len(spelled) > 1 and spelled[-1] in TRAILING_UNITS:
        spelled = spelled[:-1]
    parts = [piece for word in spelled for piece in _split_joined(word)]
    # A name that is nothing but a unit keeps it: `hours`.
    nouns = [p for p in parts if p not in UNITS_OF_MEASURE and p not in _LINKING]
    return tuple(unabbreviate(part) for part in nouns or parts)


def _split_joined(word: str) -> tuple[str, ...]:
    """Split a word such as `bodywt` into a word of English and an abbreviation."""
    # A word of English is never split: `carpet` is no car and no pet.
    if len(word) < 5 or known_words([word]):
        return (word,)
    for cut in range(len(word) - 2, 2, -1):
        head, tail = word[:cut], word[cut:]
        if unabbreviate(tail) != tail and known_words([head]):
            return (head, tail)
    for cut in range(3, len(word) - 2):
        head, tail = word[:cut], word[cut:]
        if len(head) >= 4 and len(tail) >= 4 and len(known_words([head, tail])) == 2:
            return (head, tail)
    return (word,)


@lru_cache(maxsize=20_000)
def word_strength(word: str, part: str) -> float:
    """Strength of a match between a word of the question and a word of a name, from 0 to 1."""
    if word == part:
        return NAME
    own, other = expand(word), stem(part)
    if own == other:
        return CONCEPT if tells_agent_from_event(word, part) else STEM
    if is_nominalization(word, part):
        return KIN
    shorter, longer = sorted((own, other), key=len)
    if len(shorter) >= MIN_BEGINNING_LETTERS and longer.startswith(shorter) and len(longer) - len(shorter) <= 8:
        return KIN if share_concept(own, other) else BEGINNING
    if _differs_by_prefix(own, other):
        return 0.0
    if share_concept(own, other) and not (word in _SALE_WORDS and part in _PRICE_WORDS):
        # Goals take a price for revenue; questions ask for the price of a thing and the revenue of many.
        return CONCEPT if word not in _PRICE_WORDS or part != "revenue" else SPELLING / 2
    if len(shorter) >= MIN_SPELLED_LETTERS and fuzz.ratio(word, part) >= MIN_SPELLING_RATIO:
        return SPELLING
    # `chnl` is the channel in a name, and `appt` an appointment in a question.
    return SPELLING if shortens(part, word) or shortens(word, part) else 0.0


_PREFIXES = ("re", "pre", "post", "sub", "over", "under", "out", "mis", "co", "inter", "fore", "semi", "anti")


def _differs_by_prefix(word: str, part: str) -> bool:
    """Tell if a prefix makes one word of the other, which is no misspelling: `admitted` and `readmitted`."""
    shorter, longer = sorted((word, part), key=len)
    return longer.endswith(shorter) and longer.removesuffix(shorter) in _PREFIXES


@lru_cache(maxsize=20_000)
def related_strength(word: str, part: str) -> float:
    """Strength of two words that are used alike."""
    if len(known_words([word, part])) < 2:
        return 0.0
    cosine = most_similar([word], [part])[0][1]
    if cosine < MIN_RELATED_COSINE:
        return 0.0
    return MAX_RELATED_STRENGTH * min(1.0, cosine / 0.75)


class ColumnIndex:
    """The words of all names of columns, made once for a question: tables may have thousands of columns."""

    def __init__(self, tables: Sequence[TableProfile]) -> None:
        self._places: list[Place] = []
        self._names: dict[str, list[Place]] = {}
        self._parts: dict[str, list[tuple[Place, int]]] = {}
        self._short_parts: dict[str, str] = {}
        for table in tables:
            for column in table.columns:
                place = Place(table.name, column)
                self._places.append(place)
                joined = "".join(words(column.name))
                stems = {stem(joined)} if len(words(column.name)) == 1 else set()
                for name in {joined, *stems}:
                    self._names.setdefault(name, []).append(place)
                for n, part in enumerate(name_parts(column.name)):
                    self._parts.setdefault(part, []).append((place, n))
                for raw in words(column.name):
                    if len(raw) == MIN_BEGINNING_LETTERS - 1:
                        self._short_parts.setdefault(raw, unabbreviate(raw))
        self._plain_parts = [part for part in self._parts if part.isalpha()][:MAX_PLAIN_PARTS]
        self._stems: dict[str, list[str]] = {}
        for part in self._parts:
            self._stems.setdefault(stem(part), []).append(part)
        self._strengths: dict[str, list[tuple[str, float]]] = {}
        self._joined_strengths: dict[str, list[tuple[str, float]]] = {}
        self._matches: dict[tuple[str, ...], tuple[ColumnMatch, ...]] = {}

    def match(self, phrase: Sequence[str]) -> tuple[ColumnMatch, ...]:
        """Candidates of a phrase of one to five words, best first."""
        key = tuple(phrase)
        if key not in self._matches:
            self._matches[key] = self._match(key)
        return self._matches[key]

    def _match(self, phrase: Sequence[str]) -> tuple[ColumnMatch, ...]:
        joined = "".join(phrase)
        matches = {
            place.key: ColumnMatch(place.table, place.column, NAME, 1.0)
            for place in self._names.get(joined, ())
        }
        if len(phrase) == 1 and not matches:
            singular = joined.removesuffix("s")  # the stem of `skus` keeps its end
            for place in (*self._names.get(stem(joined), ()), *self._names.get(singular, ())):
                matches[place.key] = ColumnMatch(place.table, place.column, STEM, 1.0)
        if not matches and len(phrase) > 1 and len(joined) > MIN_JOINED_LETTERS:
            shortened = self._shortened(phrase)
            matches |= {p.key: ColumnMatch(p.table, p.column, STEM, 1.0) for p in shortened}
        for place, strengths in self._common(phrase):
            if place.key not in matches and (match := _score(place, strengths, len(phrase))):
                matches[place.key] = match
        # The lexicon of goals relates more words than names do, and speaks only where no name is near.
        if not any(match.score >= CONCEPT for match in matches.values()):
            for match in self._asked_for(phrase):
                if match.key not in matches or matches[match.key].score < match.score:
                    matches[match.key] = match
        if not matches and len(phrase) == 1:
            matches = {match.key: match for match in self._related(phrase[0])}
        return tuple(sorted(matches.values(), key=lambda match: -match.score)[:MAX_CANDIDATES])

    def _shortened(self, phrase: Sequence[str]) -> Iterator[Place]:
        """Columns whose names break off within the last word of a phrase: `gdpPercap` of `gdp per capita`."""
        joined, before_last = "".join(phrase), len("".join(phrase[:-1]))
        for size in range(max(MIN_JOINED_LETTERS, before_last + 2), len(joined)):
            yield from self._names.get(joined[:size], ())

    def _asked_for(self, phrase: Sequence[str]) -> Iterator[ColumnMatch]:
        """Columns that store what a phrase asks for by the lexicon of goals: `crowd` and `attendance`."""
        concepts = concepts_of_phrase(tuple(map(stem, phrase)))
        if not concepts:
            return
        for place in self._places:
            stored = stored_concepts(tuple(map(stem, words(place.column.name))))
            shared = [concepts[concept] * stored[concept] for concept in concepts if concept in stored]
            if shared:
                strength = MIN_ASKED_SCORE + (MAX_ASKED_SCORE - MIN_ASKED_SCORE) * max(shared)
                yield ColumnMatch(place.table, place.column, strength, 1.0)

    def _common(self, phrase: Sequence[str]) -> list[tuple["Place", list[tuple[float, int]]]]:
        """Columns that all words of a phrase match, with strengths and places of parts."""
        content = [word for word in phrase if word not in _LINKING] or list(phrase)
        strengths: dict[tuple[str, str], list[tuple[float, int]]] = {}
        places: dict[tuple[str, str], Place] = {}
        for number, word in enumerate(content):
            own: dict[tuple[str, str], tuple[float, int]] = {}
            for part, strength in self._matching_parts(word, len(content) > 1):
                for place, n in self._parts[part][:MAX_COLUMNS_OF_PART]:
                    if (number == 0 or place.key in strengths) and strength > own.get(place.key, (0.0, 0))[0]:
                        own[place.key] = (strength, n)
                        places[place.key] = place
            strengths = {key: [*strengths.get(key, ()), best] for key, best in own.items()}
            if not strengths:
                return []
        return [(places[key], values) for key, values in strengths.items()]

    def _matching_parts(self, word: str, is_joined: bool = False) -> list[tuple[str, float]]:
        """Words of names that a word matches. Beside another word three letters are enough: `lifeExp`."""
        if is_joined and len(word) > MIN_BEGINNING_LETTERS and self._short_parts:
            if word not in self._joined_strengths:
                own = self._matching_parts(word)
                matching = {part for part, _ in own}
                meant = {part for raw, part in self._short_parts.items() if word.startswith(raw)}
                beginnings = ((part, BEGINNING) for part in sorted(meant - matching) if part in self._parts)
                self._joined_strengths[word] = [*own, *beginnings]
            return self._joined_strengths[word]
        if word not in self._strengths:
            if not word.isalpha():
                parts = [word] if word in self._parts else []
            else:
                parts = [*self._plain_parts, *self._stems.get(stem(word), ())]
            scored = ((part, word_strength(word, part)) for part in dict.fromkeys(parts))
            self._strengths[word] = [(part, strength) for part, strength in scored if strength > 0]
        return self._strengths[word]

    def _related(self, word: str) -> Iterator[ColumnMatch]:
        for part in self._plain_parts:
            if part in _GENERIC_PARTS or not (strength := related_strength(word, part)):
                continue
            for place, _ in self._parts[part][:MAX_COLUMNS_OF_PART]:
                size = len(name_parts(place.column.name))
                score = strength * (0.6 + 0.4 / size)
                if score >= MIN_SCORE:
                    yield ColumnMatch(place.table, place.column, score, 1 / size)


_STATISTICS = frozenset({"average", "mean", "total", "sum", "median", "maximum", "minimum"})
"""Words of names that say how a figure was made, and not of what it is."""


@lru_cache(maxsize=4_096)
def _needed_parts(name: str) -> tuple[int, ...]:
    """Places of the words of a name that say what it holds: no identifier, no statistic, no `per night`."""
    parts, spelled = name_parts(name), words(name)
    behind = spelled[spelled.index("per") + 1 :] if "per" in spelled[1:] else []
    divisors = {unabbreviate(word) for word in behind}
    descriptive = [n for n, part in enumerate(parts) if part not in IDENTIFIER_WORDS | divisors]
    own = [n for n in descriptive if parts[n] not in _STATISTICS]
    return tuple(own or descriptive or range(len(parts)))


def needed_words(name: str) -> set[str]:
    """Words of a name that say what it holds: `rate` of `rate_per_night`."""
    parts = name_parts(name)
    return {parts[n] for n in _needed_parts(name)}


def _score(place: Place, strengths: Sequence[tuple[float, int]], size: int) -> ColumnMatch | None:
    """The match of a phrase of `size` words by the strengths and places of those that are no links."""
    matched = {n for _, n in strengths}
    # Every word of a phrase needs a word of the name for itself.
    if len(matched) < len(strengths):
        return None
    own_parts = list(_needed_parts(place.column.name))
    coverage = len(matched & set(own_parts)) / len(own_parts)
    strength = sum(value for value, _ in strengths) / len(strengths)
    # The last word of a compound is its head: `price` says more of `sale_price` than `sale` does.
    head = 0.05 if own_parts[-1] in matched else 0.0
    is_whole = len(matched) == len(name_parts(place.column.name)) == size and strength >= STEM
    full_share = WHOLE_NAME if is_whole else NEEDED_PARTS
    score = strength * (full_share if coverage >= 1 else 0.5 + 0.35 * coverage + head)
    return ColumnMatch(place.table, place.column, score, coverage) if score >= MIN_SCORE else None
