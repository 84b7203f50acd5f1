"""States that select rows: "on rainy days", "when occupied", "for vip callers", "families with kids".

A state is said by a word for a yes/no column or for an amount that may be zero, in a phrase behind a
preposition or a conjunction. The head of the request states nothing: "predict occupancy in Berlin" asks for it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from app.agents.goals.clauses import Part, goal_words
from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.conditions.state_words import NEGATIONS, NOUNS_OF_STATES, STATE_WORDS, Meaning
from app.agents.goals.tables.column_roles import ENTITIES
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.clause_vocabulary import AUXILIARIES, EFFECTS, VERBS
from app.agents.goals.words.name_parts import names_part, parts_of_name
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import without_accents, words
from app.agents.goals.words.vocabulary import (
    FUNCTION_WORDS,
    word_set,
)

_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W_]+(?:_[^\W_]+)*|[.;:!?,()]")
_CLAUSES = word_set("when whenever while where if during")
"""Words behind which a bare noun or verb is a state: "when occupied", "during restrictions"."""
_ADDING = word_set("with without having under in on off at")
"""Prepositions behind which a bare noun is a state of the rows that a phrase before it names."""
_HAVING = word_set("with without having under")
"""Those of them that say so of an amount: "with kids", "under warranty", and not "on the clock"."""
_NAMING = word_set("for of among on in at during from to by with only along")
"""Prepositions behind which the adjective of a noun is a state: "for express orders"."""
_RELATIVE = word_set("who that which whose")
_THOSE = word_set("those ones people anyone everyone somebody")
"""Words for rows behind which a phrase says more of them: "those who got a message"."""
_OPENINGS = _CLAUSES | _ADDING | _NAMING | _RELATIVE
_SENTENCE_ENDS = word_set(". ; ! ?")
_CLAUSE_ENDS = (
    _SENTENCE_ENDS
    | _CLAUSES
    | _RELATIVE
    | word_set(": , ( ) and or but so to than using given based per each every")
)
_ENDS = _CLAUSE_ENDS | _ADDING | _NAMING | word_set("we i you they he she")
"""Tokens before which a clause ends, and a phrase behind a preposition."""
_LINKS = FUNCTION_WORDS | word_set(
    """
    is are was were be been being it they he she one ones there still already has have had having got get some
    their done doing made outside inside both next last past previous
    """
)
"""Words of a phrase that name neither a state nor the rows."""
_COMPARING = word_set(
    "above below over under more less least most high higher low lower than between exceeds around"
)
"""Words of a clause that compares: its amount is not only there or not."""
_KNOWING = word_set("known unknown available given out aside excluded")
"""Words of a phrase about what is known or left out: "with union membership kept out"."""
_YES_NO = (
    ("yes", "no"),
    ("y", "n"),
    ("true", "false"),
    ("t", "f"),
    ("1", "0"),
    ("1.0", "0.0"),
    ("ja", "nein"),
    ("j", "n"),
    ("oui", "non"),
    ("si", "no"),
)
MAX_STATE_WORDS = 6
"""Tokens of a phrase that may state something: a longer one is a clause of its own."""
MAX_NEGATION_DISTANCE = 3
"""Tokens from a negation to what it denies: "no preheating", "not in the rain"."""


class StatedCondition(NamedTuple):
    """A condition with the words of the goal that state it."""

    phrase: str
    condition: RowCondition


class Phrase(NamedTuple):
    """The tokens behind a preposition or conjunction. `has_rows`: a phrase before it names the rows."""

    opening: str
    tokens: tuple[str, ...]
    has_rows: bool


def find_states(text: str, tables: Sequence[TableProfile], target: str | None) -> list[StatedCondition]:
    """Find the conditions that states set on the rows of joined tables, in the order of the goal's words."""
    heads = {stem(word.word) for word in goal_words(text) if word.part is Part.HEAD}
    states: dict[str, StatedCondition] = {}
    for phrase in find_phrases(text, tables):
        # Words of the vocabulary first: in "when the vents are shut" the vents say which column is shut.
        places = sorted(range(len(phrase.tokens)), key=lambda at: phrase.tokens[at] not in STATE_WORDS)
        for at in places:
            token = phrase.tokens[at]
            if (
                token in _LINKS
                or token in NEGATIONS
                or (stem(token) in heads and phrase.opening not in _NAMING)
            ):
                continue
            if state := _find_state(phrase, at, tables, target):
                states.setdefault(state.condition.column, state)
    return list(states.values())


def find_selecting_columns(text: str, tables: Sequence[TableProfile]) -> list[str]:
    """Find the columns that only select the rows of a request: `vip` in "the satisfaction of vip callers".

    They stand before a plural, or a number behind them tells what they select: "on floor 1". A clause may be
    what is asked for ("tell me if it is late"), and so may the head and its modifiers.
    """
    requested = {stem(word.word) for word in goal_words(text) if word.part in (Part.HEAD, Part.MODIFIER)}
    names = []
    for phrase in find_phrases(text, tables):
        names += [name for name in _numbered_columns(phrase, tables) if stem(phrase.tokens[0]) not in requested]
        for at, token in enumerate(phrase.tokens):
            follower = next((word for word in phrase.tokens[at + 1 :] if word not in _LINKS), "")
            if phrase.opening not in _SELECTING or not follower.endswith("s") or stem(token) in requested:
                continue
            state = _find_state(phrase, at, tables, None)
            if state and state.condition.operator == "in" and state.condition.column not in names:
                names.append(state.condition.column)
    return names


def _numbered_columns(phrase: Phrase, tables: Sequence[TableProfile]) -> Iterator[str]:
    """Yield the columns that a phrase is about with a number of theirs: "on floor 1"."""
    noun, number = (*phrase.tokens, "", "")[:2]
    if phrase.opening not in _SELECTING or not number.isdecimal():
        return
    for table in tables:
        for column in table.columns:
            is_named = parts_of_name(column.name)[-1:] == [stem(noun)]
            if is_named and column.type == "integer" and column.spans(int(number)):
                yield column.name


_SELECTING = word_set("for of among on in")
"""Prepositions behind which a state before a noun only selects rows."""


def find_phrases(text: str, tables: Sequence[TableProfile]) -> Iterator[Phrase]:
    """Yield the phrases of a text that may select rows."""
    nouns = ENTITIES | {part for table in tables for part in stems(table.name)}
    # A number of the rows is called by their noun: `parcel_no` of parcels.
    columns = (column for table in tables for column in table.columns if not column.unique)
    nouns -= {part for column in columns for part in stems(column.name)}
    tokens = _TOKEN.findall(without_accents(re.sub(r"['\u2019](?=\w)", " ", text.casefold())))
    has_rows, clause_end = False, 0
    for at, token in enumerate(tokens):
        if token in _SENTENCE_ENDS:
            has_rows = False
        if token not in _OPENINGS or at < clause_end or _is_interrogative(tokens, at):
            continue
        is_clause = token in _CLAUSES | _RELATIVE
        phrase_tokens: list[str] = []
        for word in tokens[at + 1 : at + 1 + MAX_STATE_WORDS]:
            if word in (_CLAUSE_ENDS if is_clause else _ENDS):
                break
            phrase_tokens.append(word)
        # "The impact of a wet day on sales" compares it with other days.
        if phrase_tokens and not (at and tokens[at - 1] in EFFECTS):
            follows_rows = at > 0 and (tokens[at - 1] in _THOSE or stem(tokens[at - 1]) in nouns)
            yield Phrase(token, tuple(phrase_tokens), has_rows or follows_rows)
            has_rows = has_rows or token in _NAMING
            clause_end = at + 1 + len(phrase_tokens) if is_clause and len(phrase_tokens) > 1 else 0


def _is_interrogative(tokens: Sequence[str], at: int) -> bool:
    """Test if a word begins a question: "when will it break" asks for a time."""
    is_first = at == 0 or not tokens[at - 1].isalnum() or tokens[at - 1] in VERBS
    return tokens[at] in ("when", "where") and is_first and bool({*tokens[at + 1 : at + 2]} & AUXILIARIES)


def _find_state(
    phrase: Phrase, at: int, tables: Sequence[TableProfile], target: str | None
) -> StatedCondition | None:
    """Return the condition that a token states, if it is one of a single column."""
    token = phrase.tokens[at]
    matches: list[tuple[tuple[float, bool], Column, Meaning]] = []
    for table in tables:
        nouns = row_nouns([table])
        for column in table.columns:
            if stem(token) not in nouns and (meant := _meaning(phrase, at, column)):
                # "Empty rooms" are not occupied, rather than rooms with a count of guests of zero.
                matches.append(((meant[0], yes_and_no(column) is not None), column, meant[1]))
    if not matches:
        return None
    best = max(rank for rank, _, _ in matches)
    likeliest = [(column, meaning) for rank, column, meaning in matches if rank == best]
    if len({column.name for column, _ in likeliest}) != 1 or likeliest[0][0].name == target:
        return None
    column, meaning = likeliest[0]
    condition = _make_condition(column, meaning, is_denied(phrase, at, words(column.name)))
    return StatedCondition(" ".join([phrase.opening, *phrase.tokens]), condition) if condition else None


def row_nouns(tables: Sequence[TableProfile]) -> frozenset[str]:
    """Return the stems of the nouns for the rows and their owners, by the names of tables and identifiers."""
    identifiers = (column.name for table in tables for column in table.columns if column.hint == "id")
    return frozenset(
        part for name in (*(table.subject for table in tables), *identifiers) for part in stems(name)
    )


def _meaning(phrase: Phrase, at: int, column: Column) -> tuple[float, Meaning] | None:
    """Return the share of a column's name that a phrase has, and what its token says of the column."""
    is_flag = yes_and_no(column) is not None
    token, parts = phrase.tokens[at], parts_of_name(column.name)
    for word in STATE_WORDS.get(token, ()):
        form: _Form = "noun" if token in NOUNS_OF_STATES else "word"
        if word.stems & {*parts} and _fits(word.meaning, column) and _is_stated(phrase, at, column, form):
            return 1.0, word.meaning
    if not is_flag and not _may_be_zero(column):
        return None
    undenied = token.removeprefix("un")
    is_denying = (
        is_flag
        and undenied != token
        and len(undenied) >= MIN_DENIED_LETTERS
        and any(names_part(undenied, part) for part in parts)
    )
    spelled = undenied if is_denying else token
    named_parts = [part for part in parts if names_part(spelled, part)]
    # "The vents" alone are not the state of `vent_open`: the last word of a name says it.
    other_parts = [
        part for part in parts for other in phrase.tokens if other != token and names_part(other, part)
    ]
    if not named_parts or not (parts[-1] in {*named_parts, *other_parts} or parts[-1] in _DONE):
        return None
    coverage = len({*named_parts, *other_parts, *_DONE.intersection(parts)}) / len(parts)
    if not _is_stated(phrase, at, column, _form(token, column), coverage):
        return None
    return coverage, "none" if is_denying else "some"


MIN_DENIED_LETTERS = 4
"""Letters of a word that `un` denies: `unpaid`, and not `under`."""
_DONE = frozenset(
    stems("sent requested req incl included done used made given got had present available taken")
)
"""Stems of the last words of names that say only that something is there: `sms_sent`."""
_Form = Literal["word", "adjective", "noun"]


def _form(token: str, column: Column) -> _Form:
    # A name may end like an adjective: `salary`, `speed`.
    return "adjective" if token.endswith(("y", "ed", "en")) and token not in words(column.name) else "noun"


def _is_stated(phrase: Phrase, at: int, column: Column, form: _Form, coverage: float = 1.0) -> bool:
    """Test if the place of a token makes it a state of the rows."""
    opening, tokens = phrase.opening, phrase.tokens
    # Before a noun a flag is named as it is called: "waiting for the tow truck" says nothing of `towed`.
    is_flag, is_name = yes_and_no(column) is not None, tokens[at] in words(column.name)
    if any(token[0].isdigit() or token in _COMPARING or token in _KNOWING for token in tokens):
        return False
    if opening in _CLAUSES:
        return True
    if opening in _RELATIVE:
        return phrase.has_rows
    if any(token not in _LINKS for token in tokens[at + 1 :]):  # it stands before a noun
        return opening in _NAMING and (form != "noun" or (is_flag and is_name))
    if tokens[at] in _ROW_NOUNS or (form == "word" and phrase.has_rows):
        return True
    # "Among smokers" and "for the smokers" of a column `smoker`, "of members" of `loyalty_member`.
    is_kind = coverage == 1.0 or stem(tokens[at]) in ENTITIES
    if is_flag and is_kind and (opening == "among" or (opening in _OF and tokens[at].endswith("s"))):
        return True
    # "In quiet cells" says nothing of `gold_cell`: a bare noun is a state under its whole name.
    is_added = opening in (_ADDING if is_flag else _HAVING)
    return coverage == 1.0 and is_added and (phrase.has_rows or bool(NEGATIONS & {*tokens[:at]}))


_OF = word_set("for of")
"""Prepositions behind which a plural names the rows themselves."""
_ROW_NOUNS = word_set("parents families weekdays weekends workdays")
"""States that are nouns for the rows themselves: "among parents"."""


def names_column(token: str, column: Column) -> bool:
    """Test if a token is a part of a column's name, in any form."""
    return any(names_part(token, part) for part in parts_of_name(column.name))


def yes_and_no(column: Column) -> tuple[bool | int | float | str, bool | int | float | str] | None:
    """Return the stored yes and no of a column with two such values, else None."""
    if column.distinct != 2 or column.derivation is not None:
        return None
    if column.type == "boolean" and not column.is_stored_as_text:
        return True, False
    by_word = {str(value).casefold(): value for value in column.values}
    return next(((by_word[yes], by_word[no]) for yes, no in _YES_NO if {yes, no} == by_word.keys()), None)


def _may_be_zero(column: Column) -> bool:
    """Test for an amount of which rows may have none: rain, kids, transfers."""
    return column.is_number and column.distinct > 2 and column.hint != "id" and column.low == 0


def _may_be_negative(column: Column) -> bool:
    low, high = column.low, column.high
    is_number = column.is_number and isinstance(low, int | float) and isinstance(high, int | float)
    return is_number and low < 0 < high


def _fits(meaning: Meaning, column: Column) -> bool:
    if meaning == "below_zero":
        return _may_be_negative(column)
    return yes_and_no(column) is not None or _may_be_zero(column)


def is_denied(phrase: Phrase, at: int, name_words: Sequence[str] = ()) -> bool:
    """Test if a token of a phrase is denied: "when nobody was on hold".

    A negation that is one of the `name_words` of its column denies nothing: "among no shows" of `no_show`.
    """
    start = 0 if phrase.opening in _CLAUSES | _RELATIVE else max(0, at - MAX_NEGATION_DISTANCE)
    denying = [token for token in phrase.tokens[start:at] if token in NEGATIONS and token not in name_words]
    return (phrase.opening == "without") != bool(denying)


def _make_condition(column: Column, meaning: Meaning, is_denied: bool) -> RowCondition | None:
    if meaning == "below_zero":
        return None if is_denied else RowCondition(column=column.name, operator="below", values=[0])
    has_some = (meaning == "some") != is_denied
    if answers := yes_and_no(column):
        return RowCondition(column=column.name, values=[answers[0] if has_some else answers[1]])
    if has_some:
        return RowCondition(column=column.name, operator="above", values=[0])
    return RowCondition(column=column.name, values=[0])
