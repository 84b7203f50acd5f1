"""Phrases of a goal that restrict its rows by words of no part of the plan: "of guests who pay cash"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.agents.goals.clauses import GoalWord, Part, goal_words
from app.agents.goals.columns.evidence import Link, Match, WordTable, find_evidence
from app.agents.goals.conditions.date_filters import is_time_of
from app.agents.goals.conditions.filters import CLASS_NOUNS
from app.agents.goals.conditions.row_conditions import BOUNDS, RowCondition
from app.agents.goals.conditions.states import names_column, row_nouns, yes_and_no
from app.agents.goals.goal import Goal
from app.agents.goals.parser import parse_goal
from app.agents.goals.phrases.intents import GENERIC
from app.agents.goals.phrases.restricting_phrases import (
    TIMES,
    RestrictingPhrase,
    find_restricting_phrases,
)
from app.agents.goals.tables.column_roles import ENTITIES
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.clause_vocabulary import ARTICLES, AUXILIARIES, CHANCES, EMPTY, RELATIVE
from app.agents.goals.words.name_parts import parts_of_name
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vectors import known_words, most_similar
from app.agents.goals.words.vocabulary import (
    COUNT_WORDS,
    FUNCTION_WORDS,
    IDENTIFIER_WORDS,
    MONTHS,
    SECONDS_BY_UNIT,
    word_set,
)
from app.agents.planner.plan_conditions import find_row_conditions

_IDLE = frozenset(
    map(
        stem,
        word_set(
            """
            me us our we you i they it each every all any one ones other others same such most more next last
            following coming past previous ahead future upcoming today tonight tomorrow now time times period
            basis analysis report study team board boss meeting manager project work
            purpose planning budget decision data table file dataset record records row rows entry entries case
            cases example sample item items thing things number numbers kind type sort way chance chances hand
            help accuracy confidence precision score metric fold folds validation test split seed minute seconds
            average general total advance detail short practice particular principle mind order terms euros
            dollars pounds percent units arrival delivery return place end middle beginning need needs make made
            please kindly usually typically normally only alone
            """
        ),
    )
)
"""Stems of words that select no rows: whom a goal is for, its data, its horizon, idioms."""
_POSSESSIVES = word_set("our my your his her their its")
_PURPOSES = word_set(
    "report meeting presentation newsletter campaign budget review staff team managers planning"
)
"""Words for what predictions are made for."""
MIN_PURPOSE_SIMILARITY = 0.38
"""Cosine from which a noun is a purpose: 0.55 and more for technicians, accountants and a conference, 0.29 and
less for passengers, patients, tourists and the elderly."""
_LISTED_OPENINGS = word_set("for on when with without during among while where")
"""Openings of phrases that a plan lists even where they rather say what a goal is for."""
_COMPARED = word_set("compared comparing versus vs")
"""Words behind which a phrase names what the rows are compared with."""
MAX_PHRASES = 3
"""Phrases that one plan lists, or asks about."""
MAX_CANDIDATES = 3
"""Conditions that are offered for a phrase."""


@dataclass(frozen=True)
class UnreadPhrase:
    """A phrase with words that no condition of the plan takes up, and the conditions that it could mean."""

    text: str
    candidates: tuple[RowCondition, ...] = ()
    is_doubtful: bool = False
    """True if it may also say what the goal is for, or where its rows are: then nobody is asked about it."""


def find_unread_phrases(
    goal: Goal, tables: Sequence[TableProfile], target: Column, conditions: Sequence[RowCondition]
) -> list[UnreadPhrase]:
    """Find the phrases that restrict the rows by a word that nothing in the plan has, at most `MAX_PHRASES`.

    Only of a goal that names its target by other words: an unknown phrase may otherwise be what it asks for
    ("where the customer wants his money back").
    """
    phrases = [
        phrase
        for phrase in find_restricting_phrases(goal.request_text)
        if phrase.before not in _COMPARED and not _is_asked_for(phrase, goal) and not _is_excluded(phrase, goal)
    ]
    content = {word for phrase in phrases for word in _content(phrase, tables)}
    if not content or not _names_target(goal.request_text, phrases, target):
        return []
    reader = _PhraseReader(goal, tables, target, conditions, content)
    unread = (reader.find_unread(phrase) for phrase in phrases)
    return list({phrase.text: phrase for phrase in unread if phrase}.values())[:MAX_PHRASES]


def find_unread_heads(goal: Goal, tables: Sequence[TableProfile]) -> list[str]:
    """Find what the goal asks for, if no column or value is called so: `colour` in "predict the colour"."""
    nouns = {part for table in tables for part in stems(table.subject)}
    heads = [
        word.word
        for word in goal_words(goal.after_verb)
        if word.part is Part.HEAD and word.word not in GENERIC and stem(word.word) not in nouns | ENTITIES
    ]
    is_known = any(_known_words({*heads}, tables)) if heads else True
    return [] if is_known else list(dict.fromkeys(heads))[:MAX_PHRASES]


def _is_asked_for(phrase: RestrictingPhrase, goal: Goal) -> bool:
    """Test if a phrase holds what the goal asks for, or says more of it: "who gets sick", "at high risk"."""
    if phrase.opening in RELATIVE and (phrase.before in _asked_words(goal) or phrase.before in EMPTY):
        return True  # "the plan that suits a newcomer", "the rate of someone who walks in"
    return not (_asked_words(goal) | CHANCES).isdisjoint(words(" ".join(phrase.inner)))


def _is_excluded(phrase: RestrictingPhrase, goal: Goal) -> bool:
    """Test if a phrase is one of what is left out: ", not with the zip code"."""
    own = set(stems(phrase.text))
    return phrase.before == "not" and any(set(stems(exclusion)) <= own for exclusion in goal.exclusions)


def _asked_words(goal: Goal) -> set[str]:
    return {word.word for word in goal_words(goal.target_text) if word.part in (Part.HEAD, Part.MODIFIER)}


def _names_target(text: str, phrases: Sequence[RestrictingPhrase], target: Column) -> bool:
    """Test if the words outside the phrases name the target."""
    for phrase in phrases:
        text = text.replace(phrase.text, " ")
    if target.name.casefold() in text.casefold():
        return True
    evidence = find_evidence(WordTable(goal_words(text)), target, "")
    return any(match.link is not Link.RELATED for match in evidence.matches)


def _content(phrase: RestrictingPhrase, tables: Sequence[TableProfile]) -> list[str]:
    """Return the words of a phrase that could select rows."""
    nouns = _row_nouns(tables)
    return [
        word
        for text in phrase.inner
        # Of "doesn't" and "it's" the parts are no words of their own.
        if not set("'\u2019") & set(text) or text.casefold().endswith(("s'", "'s"))
        for word in words(text)
        if len(word) > 2
        and not any(character.isdigit() for character in word)
        and word not in FUNCTION_WORDS | GENERIC | EMPTY | AUXILIARIES | COUNT_WORDS.keys()
        and word not in IDENTIFIER_WORDS | {*MONTHS}
        and stem(word) not in _IDLE | nouns | {stem(unit) for unit in SECONDS_BY_UNIT}
    ]


def _row_nouns(tables: Sequence[TableProfile]) -> frozenset[str]:
    """Return the stems of the nouns that rows and their owners are called by.

    A noun that only a yes/no column has tells some rows apart: "members" of `loyalty_member`.
    """
    columns = (column for table in tables for column in table.columns)
    flags = {part for column in columns if yes_and_no(column) for part in stems(column.name)}
    return (ENTITIES - flags) | row_nouns(tables)


class _PhraseReader:
    """The words of phrases, and the columns of tables that they mean by more than a similar use."""

    def __init__(
        self,
        goal: Goal,
        tables: Sequence[TableProfile],
        target: Column,
        conditions: Sequence[RowCondition],
        content: set[str],
    ) -> None:
        self._goal, self._tables, self._target, self._conditions = goal, tables, target, conditions
        self._used = {target.name, *(condition.column for condition in conditions)}
        self._matches: dict[str, list[tuple[Column, Match]]] = {}
        word_table = WordTable(GoalWord(word, Part.HEAD) for word in sorted(content))
        # What is explained has its causes in it: "why are we late on windy days".
        self._causes = {
            word
            for word in content
            if goal.wants_drivers and any(names_column(word, c) for table in tables for c in table.columns)
        }
        for table in tables:
            for column in table.columns:
                for match in find_evidence(word_table, column, table.subject).matches:
                    if _means(match, column):
                        self._matches.setdefault(match.word.word, []).append((column, match))

    def find_unread(self, phrase: RestrictingPhrase) -> UnreadPhrase | None:
        """Return the phrase with its candidates if a word of it selects no rows although it seems to."""
        content = _content(phrase, self._tables)
        unknown = [word for word in content if word not in self._matches and word not in self._causes]
        candidates = [condition for word in content for condition in self._candidates(word)]
        if self._names_kind(phrase) or self._tells_time(phrase, unknown):
            return None
        if unknown and not self._selects_by(phrase, content):
            if phrase.opening not in TIMES and not self._is_idle(phrase, content, unknown):
                return UnreadPhrase(phrase.text, tuple(candidates)[:MAX_CANDIDATES])
            if len(unknown) == len(content) and phrase.opening in _LISTED_OPENINGS and not _is_purpose(phrase):
                return UnreadPhrase(phrase.text, is_doubtful=True)
        if candidates and not any(map(self._is_used, content)):
            return UnreadPhrase(phrase.text, tuple(candidates)[:MAX_CANDIDATES])
        return None

    def _names_kind(self, phrase: RestrictingPhrase) -> bool:
        """Test if a phrase ends with a value of the plan behind a noun for kinds: "on quality class L"."""
        values = {str(value).casefold() for condition in self._conditions for value in condition.values}
        nouns = {stem(word.casefold()) for word in phrase.inner[-2:-1]}
        return bool(nouns & CLASS_NOUNS) and phrase.inner[-1].casefold() in values

    def _tells_time(self, phrase: RestrictingPhrase, unknown: Sequence[str]) -> bool:
        """Test if a clause is the event of a bound of the plan: "who signed up" since 2025."""
        bounded = {c.column for c in self._conditions if c.operator in BOUNDS and isinstance(c.values[0], str)}
        dates = [date for table in self._tables for date in table.dates if date.name in bounded]
        return bool(unknown) and phrase.opening in RELATIVE and any(is_time_of(unknown, date) for date in dates)

    def _is_idle(self, phrase: RestrictingPhrase, content: Sequence[str], unknown: Sequence[str]) -> bool:
        """Test if a phrase says what a goal is for or where its rows are, and not which ones it means."""
        if phrase.opening in RELATIVE or phrase.opening == "among":
            return False
        # A word behind one that selects rows completes it: "in care homes" of a branch `care`.
        if _is_purpose(phrase) or any(self._is_used(word) for word in content[: content.index(unknown[0])]):
            return True
        inner = [part for word in phrase.inner for part in words(word)]
        is_plain = [word for word in inner if word not in EMPTY | ARTICLES | FUNCTION_WORDS] == unknown
        # "For the renters" are some of the rows. "Of rivets" says what is measured, "for a teacher" and "in the
        # mould" what the rows are.
        if is_plain and phrase.opening == "for" and inner[0] == "the" and inner[-1].endswith("s"):
            return False
        if is_plain and (phrase.opening == "of" or inner[0] in ("a", "an", "the")):
            return True
        # "In limbo" says how something is, behind a noun for rows which of them it is: "cows on pasture".
        if is_plain and not inner[-1].endswith("s"):
            return not (phrase.before.endswith("s") and phrase.before not in _asked_words(self._goal))
        # Only what stands before a plural is a kind of rows: "of fragile parcels", and not "of bad contact".
        return phrase.opening == "of" and not inner[-1].endswith("s")

    def _selects_by(self, phrase: RestrictingPhrase, content: Sequence[str]) -> bool:
        """Test if each unknown word could have made a condition of the plan: `rainy` one on the rain."""
        remaining = parse_goal(self._goal.text.replace(phrase.text, " "))
        others = {condition.column for condition in find_row_conditions(remaining, self._tables, self._target)}
        by_name = {column.name for word in content for column, _ in self._matches.get(word, ())}
        own = {*stems(phrase.text)}
        by_value = {c.column for c in self._conditions if any(own & {*stems(str(v))} for v in c.values)}
        unexplained = {condition.column for condition in self._conditions} - others - by_name - by_value
        return len(unexplained) >= sum(word not in self._matches for word in content)

    def _is_used(self, word: str) -> bool:
        return any(column.name in self._used for column, _ in self._matches.get(word, ()))

    def _candidates(self, word: str) -> Iterator[RowCondition]:
        """Yield the rows that a word could mean: those of a yes/no column or of a value."""
        if self._is_used(word):
            return
        for column, match in self._matches.get(word, ()):
            if answers := yes_and_no(column):
                if stem(word) in parts_of_name(column.name):
                    yield RowCondition(column=column.name, values=[answers[0]])
            elif match.link in (Link.VALUE, Link.VALUE_CONCEPT):
                yield RowCondition(column=column.name, values=[match.term])


def _means(match: Match, column: Column) -> bool:
    """Test if a word means a column and needs no other meaning: "heavy" compares no weight."""
    is_of_classes = not column.is_number or yes_and_no(column) is not None
    return match.link is not Link.RELATED and (match.link is not Link.CONCEPT or is_of_classes)


def _is_purpose(phrase: RestrictingPhrase) -> bool:
    """Test if a phrase says what predictions are made for: "for route planning", "for the technicians"."""
    first, head = phrase.inner[0].casefold(), phrase.inner[-1].casefold()
    if first in _POSSESSIVES or (phrase.opening == "for" and head.endswith("ing")):
        return True
    if phrase.opening not in ("for", "with") or first != "the" or not (vectored := known_words([head])):
        return False
    ((_, similarity),) = most_similar(vectored, known_words([*_PURPOSES]))
    return similarity >= MIN_PURPOSE_SIMILARITY


def _known_words(content: set[str], tables: Sequence[TableProfile]) -> Iterator[str]:
    """Yield the words that mean a column or a value by more than a similar use."""
    table_of_words = WordTable(GoalWord(word, Part.HEAD) for word in sorted(content))
    for table in tables:
        for column in table.columns:
            for match in find_evidence(table_of_words, column, table.subject).matches:
                if match.link is not Link.RELATED:
                    yield match.word.word
