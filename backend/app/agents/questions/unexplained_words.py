"""Words of a question that no part of its reading explains."""

from collections.abc import Iterable, Sequence

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.grammar_words import CLASSES, IGNORED, SUPERLATIVES
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import STEM, name_parts, word_strength
from app.agents.questions.question_reading import QuestionReading

MIN_EXPLAINED_STRENGTH = 0.7
"""Strength of a match with a used column or a table, from which a word adds nothing to it."""
MIN_PARTIAL_SCORE = 0.6
"""Score of a column whose name is completed by a word that it lacks."""
_UNITS = CLASSES["@unit"]
_ACTIONS = word_set(
    """
    start starts begin begins end ends sit sits live lives work works stay stays run runs spend spends
    hold holds earn earns pay pays sell sells buy buys score scores win wins play plays
    belong belongs contain contains cover covers fall falls lie lies stand stands perform performs reach
    reaches reached cause causes lead leads led bring brings brought need needs needed receive receives
    get gets fetch fetches weigh weighs weighed lasts lasted travel travels travelled go goes come
    comes arrive arrives arrived leave leaves depart departs departed visit visits vary varies differ
    differs depend depends change changes rise rises drop drops grow grows became become becomes appear
    appears appeared share consist consists occur occurs drive drives drove driven ride rides walk walks
    use uses consume consumes produce produces sleep sleeps eat eats drink drinks study studies attend
    attends finish finishes complete completes rent rents book books order orders submit submits file
    files request requests answer answers respond responds call calls handle handles handled solve
    solves measure measures observe record records report reports register
    registers enter enters entered join joins enroll enrolls hire hires employ employs employed serve
    serves treat treats carry carries carried charge charges bill bills fill fills grew shown showing
    seen watch watches watched listen listens time times place places matter way ways thing things bit
    lot lots everyone everybody anyone someone somebody people person folks overall please far fare so
    too very usually placed bought paid spent earned
    received sold made recorded held used owned visited worked lived born sent shipped delivered booked
    rented stayed ridden rode won played scored charged billed occurred reported collected produced
    registered enrolled joined attended completed finished started began begun ended opened closed
    created issued submitted published released served treated tested went gone taken
    hired caught catch catches donated donate given gave give part handed logged landed launched docked parked
    filed took turned kept lent lend borrowed borrow swam swim ran drew
    harvested planted picked mailed posted uploaded downloaded streamed recruited interviewed
    surveyed asked photographed sighted observed spotted captured
    keep keeps
    """
)
"""Verbs of events, which say what rows are and not which ones."""


def is_action(text: str) -> bool:
    """Tell if a word is a verb of events, which says what rows are."""
    return text in _ACTIONS or (text.endswith("s") and text.removesuffix("s") in _ACTIONS)


def is_filler(text: str) -> bool:
    """Tell if a word carries no figure, condition or column of its own."""
    return text in IGNORED or is_action(text)


def uncovered_words(reading: QuestionReading, columns: Iterable[Column], tables: Sequence[str]) -> list[str]:
    """Words that neither the reading nor the grammar explains."""
    used = list(columns)
    names = [part for column in used for part in (*name_parts(column.name), *words(column.name))]
    names += [part for table in tables for part in words(table)]
    items = reading.text.items
    used_names = frozenset(column.name for column in used)
    return [
        item.text
        for place, item in enumerate(items)
        if not item.role
        and not _is_explained(item, names, tables, used_names)
        and not _completes_name(items, place)
    ]


def is_explained(
    items: Sequence[QuestionItem], place: int, names: Sequence[str], tables: Sequence[str]
) -> bool:
    """Tell if a left out word repeats a name of the plan, or completes one."""
    item = items[place]
    # A stored value restricts the rows, and no name of the plan does so.
    if item.values and item.values[0].score >= STEM:
        return False
    if any(table in item.row_tables for table in tables):
        return True
    if any(word_strength(word, name) >= MIN_EXPLAINED_STRENGTH for word in item.text.split() for name in names):
        return True
    return _completes_name(items, place)


def _completes_name(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a word stands beside a used column of which the question names a part: `solar radiation`."""
    item = items[place]
    # Adverbs say how something is done and choose no rows: `usually`.
    if item.word.endswith("ly"):
        return True
    if (
        item.kind != "word"
        or item.columns
        or item.values
        or item.word in SUPERLATIVES | CLASSES["@not"] | CLASSES["@agg"]
    ):
        return False
    before = items[place - 1] if place else None
    return (
        before is not None
        and bool(before.role)
        and bool(before.columns)
        and before.columns[0].score >= MIN_PARTIAL_SCORE
        and before.columns[0].coverage < 1
    )


def _is_explained(
    item: QuestionItem, names: Sequence[str], tables: Sequence[str], used_names: frozenset[str]
) -> bool:
    if item.kind == "sign":
        return True
    # A number, a date or a quoted text always restricts the rows, so that it is never left out in silence.
    if item.kind != "word":
        return False
    if item.text in IGNORED or item.word in _UNITS:
        return True
    if item.values and item.values[0].score >= 0.9 and item.word not in IGNORED:
        return False
    # What asks for an order, a figure or the opposite cannot be explained by a name.
    if item.word in SUPERLATIVES or item.word in CLASSES["@agg"] or item.word in CLASSES["@not"]:
        return False
    if any(table in item.row_tables for table in tables):
        return True
    if item.columns and item.columns[0].score >= MIN_PARTIAL_SCORE:
        return any(match.column.name in used_names for match in item.columns[:2])
    if any(word_strength(item.word, name) >= MIN_EXPLAINED_STRENGTH for name in names):
        return True
    return item.word in _ACTIONS
