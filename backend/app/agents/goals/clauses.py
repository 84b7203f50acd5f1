"""The request of a goal: the words that name what is asked for, apart from rows and circumstances.

"Predict the delay of a flight" asks for a delay; "which clients will not turn up" for turning up; "how late
will a tram be at the end of its line" for lateness, at an end. A word's part decides how much a match with a
column counts for the target. The analysis works by lists of words, not by a grammar: goals are rarely whole
sentences.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from app.agents.goals.phrases.outcome_phrases import find_outcome, has_content, put_outcome_first, scores
from app.agents.goals.tables.column_roles import ENTITIES
from app.agents.goals.words.clause_vocabulary import (
    ARTICLES,
    ASKING,
    AUXILIARIES,
    BOUNDARIES,
    CONDITION_WORDS,
    DIRECTIONS,
    DRIVER_VERBS,
    EFFECTS,
    EMPTY,
    END,
    ENTITY_PREPOSITIONS,
    HOW_MANY,
    MEDIUM,
    PREPOSITIONS,
    RELATIVE,
    SELECTING_VERBS,
    STRONG,
    SUBORDINATE,
    TRANSPARENT,
    VERBS,
)
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import cache_texts, without_accents
from app.agents.goals.words.verb_spelling import mend_verb
from app.agents.goals.words.vocabulary import COUNT_WORDS, SECONDS_BY_UNIT


class Part(Enum):
    """Part of a word in a goal; the value is the weight of its match with a column that may be the target."""

    HEAD = 1.0
    MODIFIER = 0.55
    """A word before the head: `sale` in "the sale price"."""
    COMPLEMENT = 0.4
    """A word after `of`, `at` or `in` that tells similar columns apart: `arrival` in "the delay at arrival"."""
    ENTITY = 0.12
    """The rows or their owner: `flight` in "the delay of a flight", `clients` in "which clients"."""
    CIRCUMSTANCE = 0.08
    """Another sentence, a condition, or what the prediction is for."""


@dataclass(frozen=True)
class GoalWord:
    word: str
    part: Part


_COUNT = rf"\d{{1,6}}|{'|'.join(COUNT_WORDS)}"
_PERIOD = rf"(?:{'|'.join(SECONDS_BY_UNIT)})s?"
_COUNTED_TIME = re.compile(
    rf"\b(?:next|coming|following|last|past|previous|per|each|every)[ -](?:(?:few|{_COUNT})[ -])?{_PERIOD}\b"
    rf"|\b(?:{_COUNT})[ -]{_PERIOD}\b",
    re.IGNORECASE,
)
"""Periods and horizons, which name no column: "each week", "for the next six months"."""
_WORD = re.compile(r"[^\W_]+(?:_[^\W_]+)*|[.;:!?,]", re.UNICODE)


def goal_words(text: str) -> tuple[GoalWord, ...]:
    """Split a goal into words with their parts, in their order; words without content are left out."""
    return _goal_words(text)


@cache_texts
def _goal_words(text: str) -> tuple[GoalWord, ...]:
    sentences = list(_sentences(_tokens(text)))
    if not sentences:
        return ()
    # Of equally clear sentences the first: what follows mostly explains it.
    request = max(range(len(sentences)), key=lambda i: (_request_strength(sentences[i]), -i))
    parted: list[GoalWord] = []
    for i, sentence in enumerate(sentences):
        if i == request:
            parted += _read_request(sentence)
        else:
            parted += [GoalWord(word, Part.CIRCUMSTANCE) for word in sentence if has_content(word)]
    return tuple(parted)


def head_stems(text: str) -> list[str]:
    """Return the stems of the words that name what is asked for."""
    return [stem(word.word) for word in goal_words(text) if word.part is Part.HEAD]


def has_request(text: str) -> bool:
    """Test if a text asks for something, whatever it names."""
    return bool(set(_tokens(text)) & (STRONG | SELECTING_VERBS | MEDIUM | SUBORDINATE))


def scores_rows(text: str) -> bool:
    """Test if a text asks how probable something is of each row: "customers at risk of leaving"."""
    return any(scores(sentence) or find_outcome(sentence) is not None for sentence in _sentences(_tokens(text)))


def _tokens(text: str) -> list[str]:
    text = re.sub(r"['\u2019](?=\w)", " ", text.replace("won't", "will not").replace("can't", "can not"))
    text = re.sub(r"[-\u2013\u2014/]", " ", text)
    # A comma in its place, so that "the fare next week or so" does not join what stands round it.
    text = _COUNTED_TIME.sub(" , ", without_accents(text))
    return [mend_verb(token.casefold()) for token in _WORD.findall(text)]


def _sentences(tokens: Sequence[str]) -> Iterator[list[str]]:
    sentence: list[str] = []
    for token in [*tokens, "."]:
        if token in END:
            if any(has_content(word) for word in sentence):
                yield sentence
            sentence = []
        else:
            sentence.append(token)


def _request_strength(sentence: Sequence[str]) -> int:
    """Return how clearly a sentence requests something; `what` inside "what the driver knows" does not."""
    if set(sentence) & STRONG:
        return 3
    opens = any(
        word in MEDIUM and (place <= 1 or sentence[place - 1] in VERBS | PREPOSITIONS or word in VERBS)
        for place, word in enumerate(sentence)
    )
    return 2 if opens else int(bool(set(sentence) & VERBS))


def _read_request(sentence: list[str]) -> Iterator[GoalWord]:
    """Yield the words of the sentence that holds the request."""
    for position, word in enumerate(sentence):
        rest = sentence[position + 1 :]
        if word == "how" and rest:
            yield from _circumstances(sentence[:position])
            yield from _read_how(rest)
            return
        if word in SUBORDINATE and (position == 0 or set(sentence[:position]) & VERBS):
            yield from _circumstances(sentence[:position])
            yield from _read_predicate(rest, has_subject=True)
            return
        if word in ASKING and not _describes_rows(sentence, position):
            yield from _circumstances(sentence[:position])
            yield from _read_asking(word, rest)
            return
        if word == "why":
            yield from _circumstances(sentence[:position])
            yield from _read_predicate(rest, has_subject=True)
            return
        # "Find out which customers will leave": the last word of asking begins the request.
        if word in VERBS and rest and not _asks_later(sentence, position):
            yield from _circumstances(sentence[:position])
            yield from _read_object(put_outcome_first(word, rest), selects=word in SELECTING_VERBS)
            return
    if sentence[0] in ("does", "do", "is", "are", "will", "did"):
        yield from _read_yes_or_no(sentence[1:])
    else:
        yield from _read_object(sentence)


def _asks_later(sentence: Sequence[str], position: int) -> bool:
    """Test if a word of asking follows a verb: "find out which customers will leave".

    Behind a verb of prediction, what follows an article or a noun is a noun ("predict the pain score"), and a
    clause says more of the rows: "predict the cost of trips that need a guide".
    """
    if sentence[position] not in STRONG:
        return not _VERBS_OF_REQUEST.isdisjoint(sentence[position + 1 :])
    for at in range(position + 1, len(sentence)):
        if sentence[at] in RELATIVE and _describes_rows(sentence, at):
            return False
        is_noun = at > position + 1 and (sentence[at - 1] in ARTICLES or has_content(sentence[at - 1]))
        if sentence[at] in _VERBS_OF_REQUEST and not (sentence[at] in VERBS and is_noun):
            return True
    return False


_VERBS_OF_REQUEST = VERBS | {"how", "who", "which", "what", "whether", "why"}


def _describes_rows(sentence: Sequence[str], position: int) -> bool:
    """Test if a `who` or `that` says more of rows: "predict the bill of people who pay late"."""
    if position == 0 or not has_content(sentence[position - 1]):
        return False
    before = position - 2
    while before > 0 and sentence[before] in ARTICLES:
        before -= 1
    is_phrase = before > 0 and sentence[before] in _OF_ROWS
    # "Tell me for customers who leave" names nothing else that could be asked for.
    return is_phrase and any(map(has_content, sentence[:before])) and bool(set(sentence[:before]) & STRONG)


_OF_ROWS = ENTITY_PREPOSITIONS | {"of", "in"}


def _circumstances(words: Sequence[str]) -> Iterator[GoalWord]:
    return (GoalWord(word, Part.CIRCUMSTANCE) for word in words if has_content(word))


def _read_how(words: list[str]) -> Iterator[GoalWord]:
    """Read what follows `how`: an adjective, or `many` and a noun, or `much` and a verb."""
    measure, rest = words[0], words[1:]
    if measure in HOW_MANY:
        until = next((i for i, word in enumerate(rest) if word in AUXILIARIES), len(rest))
        nouns = [word for word in rest[:until] if has_content(word)]
        yield from (GoalWord(word, Part.HEAD) for word in nouns)
        yield from _read_predicate(rest[until:], has_subject=not nouns, is_count=bool(nouns))
        return
    driver = next((i for i, word in enumerate(words) if word in DRIVER_VERBS), None)
    if driver is not None:  # "how sex and class affected survival"
        yield from _circumstances(words[:driver])
        yield from _read_phrases(words[driver + 1 :], Part.HEAD)
        return
    if measure not in AUXILIARIES:
        yield GoalWord(measure, Part.HEAD)
        yield from _read_predicate(rest, has_subject=True, is_count=True)
        return
    yield from _read_predicate(words, has_subject=True)


def _read_predicate(words: list[str], has_subject: bool, is_count: bool = False) -> Iterator[GoalWord]:
    """Read a clause: its subject names the rows, its predicate what is asked for.

    `is_count`: the head stands before the clause, whose predicate is then a complement.
    """
    subject, predicate = _split_clause(words, has_subject)
    content = [word for word in predicate if has_content(word)]
    # "Whether profit is negative": the predicate says only where its subject goes.
    if not is_count and DIRECTIONS.issuperset(content[:1]):
        yield from _read_phrases(subject, Part.HEAD)
        yield from _circumstances(predicate)
        return
    yield from (GoalWord(word, Part.ENTITY) for word in subject if has_content(word))
    yield from _read_phrases(predicate, Part.COMPLEMENT if is_count else Part.HEAD)


def _split_clause(words: list[str], has_subject: bool) -> tuple[list[str], list[str]]:
    """Split a clause into subject and predicate at its auxiliary, or behind its first noun."""
    auxiliary = next((i for i, word in enumerate(words) if word in AUXILIARIES), None)
    if auxiliary == 0 and has_subject:  # "how late will a tram be": the subject stands behind the auxiliary
        later = next((i for i, word in enumerate(words) if i and word in AUXILIARIES), None)
        end = later if later is not None else 1 + _noun_phrase_end(words[1:])
        return words[1:end], words[end:]
    if auxiliary is not None:
        return words[:auxiliary], words[auxiliary + 1 :]
    content = [i for i, word in enumerate(words) if has_content(word)]
    if has_subject and len(content) > 1:
        return words[: content[0] + 1], words[content[0] + 1 :]
    return [], words


def _noun_phrase_end(words: Sequence[str]) -> int:
    """Return the end of the noun phrase at the beginning: articles and one word with content."""
    for i, word in enumerate(words):
        if word not in ARTICLES and word not in EMPTY:
            return i + 1
    return len(words)


def _read_asking(word: str, words: list[str]) -> Iterator[GoalWord]:
    """Read what follows `who`, `which` or `what`."""
    if not words:
        return
    drivers = next((i for i, item in enumerate(words) if item in DRIVER_VERBS), None)
    if drivers is not None and drivers <= 3:
        yield from (GoalWord(item, Part.CIRCUMSTANCE) for item in words[:drivers] if has_content(item))
        yield from _read_object(words[drivers + 1 :])
        return
    start = next((i for i, item in enumerate(words) if item in AUXILIARIES), None)
    if word == "who":
        yield from _read_phrases(words[start + 1 :] if start == 0 else words, Part.HEAD)
        return
    if start is None:
        yield from _read_predicate(words, has_subject=True)
        return
    predicate = words[start + 1 :]
    if words[0] == "of":  # "which of the four states will it be in" asks for the state
        yield from (GoalWord(item, Part.HEAD) for item in words[:start] if has_content(item))
        yield from (GoalWord(item, Part.ENTITY) for item in predicate if has_content(item))
        return
    first_phrase = next((i for i, item in enumerate(words) if item in BOUNDARIES), start)
    nouns = [item for item in words[: min(start, first_phrase)] if has_content(item)]
    yield from _circumstances(words[min(start, first_phrase) : start])
    if not nouns:  # "what is the price of a house"
        yield from _read_object(predicate)
    elif _names_rows(nouns[-1]) and any(map(has_content, predicate)):  # "which customers will leave"
        yield from (GoalWord(item, Part.ENTITY) for item in nouns)
        yield from _read_phrases(predicate, Part.HEAD)
    else:  # "which species is this flower", "what rate will we offer"
        yield from _close_phrase(nouns, Part.HEAD)
        yield from _read_phrases(predicate, Part.COMPLEMENT)


def _names_rows(noun: str) -> bool:
    """Test if a noun names the rows that something is asked about, and not a property of theirs."""
    return stem(noun) in ENTITIES or (noun.endswith("s") and not noun.endswith(("ss", "ies", "us", "is")))


def _read_yes_or_no(words: list[str]) -> Iterator[GoalWord]:
    """Read "does rain make our trams late": the predicate after its last noun is what is asked about."""
    drivers = next((i for i, word in enumerate(words) if word in DRIVER_VERBS), None)
    if drivers is None:
        yield from _read_predicate(words, has_subject=True)
        return
    yield from _circumstances(words[:drivers])
    yield from _read_phrases(words[drivers + 1 :], Part.HEAD)


def _read_object(words: list[str], selects: bool = False) -> Iterator[GoalWord]:
    """Read the object of a verb: a noun phrase, then what is said about it.

    `selects`: the verb selects rows ("flag the runs that will be late"), so that the relative clause names what
    is asked for. A verb of prediction asks for the noun ("predict the plan that suits a newcomer").
    """
    if (outcome := find_outcome(words)) is not None:
        yield from (GoalWord(word, Part.ENTITY) for word in words[:outcome] if has_content(word))
        yield from _read_phrases(words[outcome:], Part.HEAD)
        return
    relative = next((i for i, word in enumerate(words) if word in RELATIVE and i > 0), None)
    # "In which" and "so that" begin no clause about the noun.
    if relative is None or words[relative - 1] in PREPOSITIONS or words[relative - 1] == "so":
        yield from _read_phrases(words, Part.HEAD)
    elif TRANSPARENT.issuperset(word for word in words[:relative] if has_content(word)):
        yield from _read_predicate(words[relative + 1 :], has_subject=True)
    elif selects:
        yield from (GoalWord(word, Part.ENTITY) for word in words[:relative] if has_content(word))
        yield from _read_phrases(words[relative + 1 :], Part.HEAD)
    else:
        yield from _read_phrases(words[:relative], Part.HEAD)
        yield from _read_phrases(words[relative + 1 :], Part.COMPLEMENT)


def _read_phrases(words: Sequence[str], part: Part) -> Iterator[GoalWord]:
    """Read a phrase of this part, and what prepositions and conditions add to it."""
    phrase: list[str] = []
    current = part
    is_effect = False
    for word in [*words, ","]:
        if word in BOUNDARIES:
            content = [item for item in phrase if has_content(item)]
            # "The probability of rain" asks for rain: the head is still to come.
            if current is Part.HEAD and content and word != "," and TRANSPARENT.issuperset(content):
                phrase = []
                continue
            is_effect = is_effect or (
                current is Part.HEAD and bool(content) and EFFECTS.issuperset(content[-1:])
            )
            if is_effect:
                yield from _circumstances(phrase)
                current = Part.HEAD if word in ("on", "upon", "to", "with") else Part.CIRCUMSTANCE
                is_effect = current is not Part.HEAD
            else:
                yield from _close_phrase(phrase, current)
                if content or current is not part:
                    current = _part_after(word, current)
            phrase = []
        elif word in ("a", "an", "the", "we", "they", "you", "i") and any(map(has_content, phrase)):
            # A noun phrase behind a noun begins a clause about it: "the rate a new applicant will get".
            yield from _close_phrase(phrase, current)
            phrase, current = [], Part.ENTITY if current is Part.HEAD else current
        else:
            phrase.append(word)


def _part_after(word: str, current: Part) -> Part:
    """Return the part of the phrase that follows a preposition, a conjunction or a comma."""
    if word in ("and", "or") or current is Part.CIRCUMSTANCE:
        return current
    if word in CONDITION_WORDS or word == ",":
        return Part.CIRCUMSTANCE
    return Part.ENTITY if word in ENTITY_PREPOSITIONS else Part.COMPLEMENT


def _close_phrase(phrase: Sequence[str], part: Part) -> Iterator[GoalWord]:
    """Yield the words of a phrase, the last as its head, and its pairs of words as one word (`turn up`)."""
    content = [word for word in phrase if has_content(word)]
    for word in content[:-1]:
        yield GoalWord(word, Part.MODIFIER if part is Part.HEAD else part)
    if content:
        yield GoalWord(content[-1], part)
    for first, second in pairwise(phrase):
        # Names of columns join words: "turn up" may be `turnup`.
        if first not in ARTICLES and second not in ARTICLES and {first, second} & {*content[-1:]}:
            yield GoalWord(first + second, part)
