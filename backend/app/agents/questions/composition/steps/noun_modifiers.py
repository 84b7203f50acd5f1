"""Nouns and adjectives beside the name of a column, to which they add nothing: `due date`, `fee income`."""

from collections.abc import Sequence

from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.cues import find_cues
from app.agents.questions.composition.ranking_order import is_time
from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.grammar_words import CLASSES
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import BEGINNING, word_strength
from app.agents.questions.question_reading import is_measurable
from app.agents.questions.tables.scope import Reference
from app.agents.questions.unexplained_words import is_filler

MIN_VERB_SCORE = 0.6
"""Score of a measure that a verb names: `earns` of a column `salary`."""
MIN_NAMED_SCORE = 0.9
"""Score of a column that a word names in full, so that it is no verb: `score`, `cause`."""
_KINDS_OF_VALUES = word_set(
    "code codes name names number numbers type types value values category categories level levels status"
    " address addresses"
)
"""Words behind a column's name that only say what its values are: `status codes`."""
_KINDS_OF_SPANS = word_set("length time duration")
"""The same behind the name of how long something takes: `consultation length`."""
_KINDS_OF_TIMES = word_set("date dates day days time times timestamp")
"""The same behind the name of a column of times: `due date`."""


def names_kind(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a noun only says of which kind the values of the column before it are: `status codes`."""
    item, before = items[place], items[place - 1] if place else None
    is_noun = bool(item.columns) and item.columns[0].score >= MIN_VERB_SCORE
    if is_noun or before is None or not before.columns:
        return False
    best = before.columns[0]
    kinds = _KINDS_OF_TIMES if best.column.type == "datetime" else _KINDS_OF_VALUES
    if is_measurable(best.column) and is_time(best.column):
        kinds = kinds | _KINDS_OF_SPANS
    return item.word in kinds and best.score >= MIN_NAMED_SCORE


def restates_name(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a noun only resembles the column that the noun before it names: `fee income` of `fee_eur`."""
    item, before = items[place], items[place - 1] if place else None
    if before is None or not (item.columns and before.columns) or item.values or item.row_tables or before.role:
        return False
    full_match, match = before.columns[0], item.columns[0]
    is_measured = full_match.score >= MIN_NAMED_SCORE and is_measurable(full_match.column)
    # A noun that names its column in full is a second mention of it and no mere echo.
    return is_measured and match.key == full_match.key and match.score < MIN_NAMED_SCORE


def tells_time(sketch: Sketch, items: Sequence[QuestionItem]) -> bool:
    """Tell if a noun only says whose period stands before it: `by year of adoption` of a column `adopted`."""
    place, periods = sketch.place, (*sketch.keys, *sketch.heads)[-1:]
    if not periods or periods[0].value is None:
        return False
    if periods[0].place != place - 2 or items[place - 1].text != "of":
        return False
    item = items[place]
    if not item.columns or item.columns[0].column.type != "datetime" or item.values or item.row_tables:
        return False
    time = Reference(item.columns[0].table, item.columns[0].column).expression
    return time.model_dump_json() in periods[0].value.expression.model_dump_json()


_MEASURED_NOUNS = word_set(
    "reading readings use usage income intake measurement measurements earnings takings payment payments bill"
)
"""Nouns behind the name of a number that only say how it comes about: `ozone reading`, `battery use`."""


def modifies_name(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a word only describes a named column: `ozone reading`, `total shipping cost` of shipments."""
    item = items[place]
    if item.kind != "word" or item.values or find_cues(items, place):
        return False
    before, following = (
        items[place - 1] if place else None,
        items[place + 1] if place + 1 < len(items) else None,
    )
    # A plural or a measure asks for something of its own, and is more than a modifier.
    is_known = bool(item.columns or item.row_tables)
    if is_known and (item.word.endswith("s") or any(is_measurable(m.column) for m in item.columns)):
        return False
    if not is_known and before is not None and item.word in _MEASURED_NOUNS and before.columns:
        return before.columns[0].score >= MIN_NAMED_SCORE and is_measurable(before.columns[0].column)
    if following is None or not following.columns or following.values or is_filler(item.text):
        return False
    best = following.columns[0]
    is_full = best.score >= MIN_NAMED_SCORE and best.coverage >= 1
    if is_measurable(best.column):
        is_of_rows = any(word_strength(item.word, part) >= BEGINNING for part in words(best.table))
        return is_full and is_of_rows and before is not None and before.word in CLASSES["@agg"]
    return is_full and before is not None and before.text in _GROUP_WORDS


_GROUP_WORDS = word_set("by per each every which across")
"""Words before the noun of groups: an adjective of it restricts no rows."""
