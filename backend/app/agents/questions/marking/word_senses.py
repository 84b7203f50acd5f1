"""Senses of single words by the words around them: units of time, verbs of events, `no` before a noun."""

from collections.abc import Sequence

from app.agents.goals.tables.profiles import Column
from app.agents.goals.tables.units import find_unit
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import ColumnMatch
from app.agents.questions.matching.place_names import load_place_names
from app.agents.questions.matching.value_matching import ValueMatch

MIN_EVENT_SCORE = 0.9
"""Score of a time from which a participle names it."""
BEFORE_UNITS = word_set("many much total sum average mean median most fewest more less fewer number of")
"""Words before a unit that is a noun and not that of a number: `how many kg`."""


def meant_columns(
    word: str, columns: tuple[ColumnMatch, ...], before: QuestionItem | None
) -> tuple[ColumnMatch, ...]:
    """The columns of a word, without the time between two dates for a unit that only names a period."""
    if word not in _PACES and (find_unit(word) is None or _counts_unit(before)):
        return columns
    return tuple(match for match in columns if not match.column.name.startswith("duration "))


def meant_values(
    item: QuestionItem,
    values: tuple[ValueMatch, ...],
    columns: Sequence[ColumnMatch],
    before: QuestionItem | None,
    following: str = "",
) -> tuple[ValueMatch, ...]:
    """The values of a word: of a verb, whole spellings only, and none of `customers with no orders`."""
    if item.word == "no" and _is_determiner(before):
        return ()
    values = _of_gender(item.word, values)
    if _tells_event(item, columns) and _is_verb_of_event(columns, before, following):
        return ()  # who closed a ticket has closed those too that were paid since
    # Verbs resemble stored states (`opened` and `open`), so that only a full spelling means one.
    # But no verb is `men compared to women`, nor `to Poland` where the table has `PL`.
    is_noun = item.word in _GENDERED or item.text in load_place_names()
    is_infinitive = before is not None and before.text == "to" and not is_noun
    is_verb = _tells_event(item, columns) or is_infinitive
    return tuple(match for match in values if match.score >= 1) if is_verb else values


_GENDERED = word_set("man men woman women male males female females gentlemen ladies boys girls")


def _of_gender(word: str, values: tuple[ValueMatch, ...]) -> tuple[ValueMatch, ...]:
    """The values of a word for men or women, without columns of other letters: the region `M` beside a sex."""
    if word not in _GENDERED:
        return values
    by_sex = tuple(match for match in values if _holds_both(match.column))
    return by_sex or values


_SEXES = ({"m", "male", "man", "men", "males"}, {"f", "female", "woman", "women", "w", "females"})


def _holds_both(column: Column) -> bool:
    """Tell if a column holds both sexes."""
    stored = {str(value).strip().casefold() for value in column.values}
    return all(stored & spellings for spellings in _SEXES)


def _tells_event(item: QuestionItem, columns: Sequence[ColumnMatch]) -> bool:
    """Tell if a participle names the time of an event: `opened` of `opened_at` is no status `open`."""
    return item.word.endswith("ed") and any(
        match.column.type == "datetime" and match.score >= MIN_EVENT_SCORE for match in columns
    )


def _is_verb_of_event(columns: Sequence[ColumnMatch], before: QuestionItem | None, following: str) -> bool:
    """Tell if a participle is the verb of what somebody did, or of what happened at some time."""
    tells_rows_apart = any(m.column.type == "datetime" and m.column.missing > 0 for m in columns)
    has_subject = before is not None and before.text in _SUBJECTS
    return tells_rows_apart and (has_subject or following in _BEFORE_TIMES)


_SUBJECTS = word_set("who we they i he she")
_BEFORE_TIMES = word_set("per during since last this yesterday today each every")
"""Words that a time begins with, or groups of times."""


def _counts_unit(before: QuestionItem | None) -> bool:
    """Tell if a unit of time is one of a number or an amount: a `month` alone is a period and no duration."""
    return before is not None and (before.kind == "number" or before.text in BEFORE_UNITS | {"in"})


_PACES = word_set("hourly daily nightly weekly monthly quarterly yearly annual annually")
"""Adverbs of periods, which are no time that something takes."""
_BEFORE_DETERMINERS = word_set(
    "with had have has having there is are was were made placed got get gets found show shows"
)


def _is_determiner(before: QuestionItem | None) -> bool:
    """Tell if `no` says that there is none of what follows, and is no stored answer."""
    return before is None or before.text in _BEFORE_DETERMINERS
