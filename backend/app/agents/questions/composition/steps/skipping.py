"""Words that a sketch leaves out, and what that costs: fillers, units, verbs of events, unknown nouns."""

from collections.abc import Sequence
from itertools import pairwise

from app.agents.goals.words.stemming import stem
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.cues import PERIODS, find_cues
from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.composition.steps.event_times import says_happened
from app.agents.questions.composition.steps.noun_modifiers import (
    MIN_NAMED_SCORE,
    MIN_VERB_SCORE,
    modifies_name,
    names_kind,
    restates_name,
    tells_time,
)
from app.agents.questions.composition.steps.second_interrogatives import joins_question
from app.agents.questions.figures import default_function
from app.agents.questions.grammar_words import CLASSES
from app.agents.questions.growth_verbs import grows_things
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking.row_nouns import PEOPLE
from app.agents.questions.matching.value_matching import denies_flag, flag_values
from app.agents.questions.question_reading import is_measurable
from app.agents.questions.tables.years import holds_years
from app.agents.questions.unexplained_words import is_action, is_filler

CONTENT_COST, CUE_COST, FILLER_COST = 1.5, 0.8, 0.02
"""Cost of a word that a sketch leaves out: a noun or number, a word of grammar, and a verb of events."""
UNIT_COST = 0.1
"""Cost of a unit that is not read with its number: half an hour is no half."""
EVENT_COST = 0.06
"""Cost of a verb that only says what rows are: `copies sold`, `parcels shipped from Italy`."""
MEASURED_EVENT_COST = 0.25
"""The same of a verb that may name a measure: `earns`, `scored`."""
HAPPENED_EVENT_COST = 0.4
"""Cost of a verb of a time that some rows lack, which means those that have it: `orders were shipped`."""
ASKING_COST = 0.4
"""Cost of an interrogative or `how many` that a sketch leaves out."""
_LINKS = frozenset({",", "and", "or", "than", "to", "/", "&", "nor", "from", "with", "plus", "minus", "+"})
_UNITS = CLASSES["@unit"]


_WONDERING = word_set("tell me us know see check say find out whether wonder even and test")
"""Words before an `if` that only asks whether something holds."""


def _names_rate(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if `rate` stands behind the name of a measurement, which is one: `murder rate` of `murder`.

    Of whole numbers it may be a share of something else: `return rate` of a number of returns.
    """
    if items[place].text not in ("rate", "rates") or not place or not items[place - 1].columns:
        return False
    best = items[place - 1].columns[0]
    is_named = best.score >= MIN_NAMED_SCORE and best.coverage >= 1
    is_measured = best.column.type == "number" and is_measurable(best.column)
    return is_named and is_measured and default_function(best.column) == "mean"


def _is_unknown(item: QuestionItem) -> bool:
    is_meaningless = not (item.columns or item.values or item.row_tables)
    return item.kind == "word" and not item.role and is_meaningless and item.text.isalpha()


def _says_how_often(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if an unknown verb stands before `most often`, which counts anyway: `breaks most often`."""
    following = [item.text for item in items[place + 1 : place + 4] if item.text != "down"]
    return _is_unknown(items[place]) and following[:1] in (["most"], ["least"]) and following[1:2] in _OFTEN


_OFTEN = (["often"], ["frequently"])


MIN_STATED_SCORE = 0.78
"""Score of a yes/no column that an adjective says of what stands behind it: `uninsured parcels`."""


def _completes_value(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if an unknown plural stands behind a value that tells which ones are meant: `motor repairs`."""
    item, before = items[place], items[place - 1] if place else None
    if before is None or before.row_tables or find_cues(items, place):
        return False
    is_plural = item.word.endswith("s") and not item.word.endswith("ss")
    is_value = bool(before.values) and before.values[0].score >= MIN_NAMED_SCORE
    flag = before.columns[0].column if before.columns else None
    is_flag = flag is not None and flag_values(flag) is not None and before.columns[0].score >= MIN_STATED_SCORE
    return _is_unknown(item) and is_plural and (is_value or is_flag)


def _says_rate(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a word only belongs to the unit of a number: `more than 20 hours a day`."""
    if place < 3 or items[place - 1].text not in ("a", "an") or items[place].word not in PERIODS:
        return False
    return items[place - 2].word in _UNITS and items[place - 3].kind == "number"


def _denies_again(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if `nor` stands before anything but a further value: `neither cancelled nor late`."""
    return items[place].text == "nor" and place + 1 < len(items) and not items[place + 1].values


def _tells_column(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a participle only says of which column the value behind it is: `heated with oil` of `heating`."""
    item = items[place]
    if not item.columns or not is_participle(item.text) or item.values:
        return False
    following = items[place + 1 : place + 1 + MAX_VALUE_DISTANCE]
    if holds_years(item.columns[0].column):
        return any(near.number is not None and near.number in _YEARS for near in following)
    keys = {match.key for near in following for match in near.values[:1]}
    return item.columns[0].key in keys and item.columns[0].score >= MIN_VERB_SCORE


MAX_VALUE_DISTANCE = 3
"""Words from a participle to its value: `built by the Dutch`, `built between 2015 and 2019`."""
_YEARS = range(1000, 2200)
"""Numbers that a year may be."""
_COPULAS = frozenset({"is", "are", "was", "were", "be", "been", "being", "got", "get", "gets", "not", "never"})
_PARTICIPLES = word_set(
    """
    sold bought made done given taken held built driven ridden flown eaten drunk grown thrown worn written drawn
    burnt spent paid earned kept found caught shot won brought sent run played
    taught led told chosen stolen broken hidden sung born begun become beaten bitten blown fed fought forgiven
    forgotten frozen gone heard hung hurt known laid lent let lit met overseen read rung said seen set shaken
    shown shut spoken struck swum thought torn understood woken wound
    """
)
"""Irregular participles."""
_STATES = [
    "cancel",
    "delay",
    "return",
    "reject",
    "fail",
    "refund",
    "lost",
    "drop",
    "expir",
    "clos",
    "resolv",
    "solv",
    "finish",
    "complet",
    "approv",
    "accept",
    "declin",
    "miss",
    "damag",
    "injur",
    "kill",
    "retir",
    "marri",
    "divorc",
    "discount",
    "reopen",
    "escalat",
    "delet",
    "archiv",
    "block",
    "churn",
    "convert",
    "promot",
    "fir",
    "admit",
    "discharg",
    "infect",
    "vaccinat",
    "assign",
    "verif",
    "suspend",
    "terminat",
    "withdraw",
    "defect",
    "overdu",
]
"""Stems of participles that tell rows apart wherever they stand: `flights delayed`."""
POSTFIX_COST = 0.15
"""Cost of an unknown participle behind a noun, which only says what happens to it: `calories burnt`."""


def is_participle(text: str) -> bool:
    return text in _PARTICIPLES or (text.endswith("ed") and len(text) > 4)


def _tells_apart(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a participle stands before a noun, or says a state: `shipped orders`, `orders were cancelled`."""
    text = items[place].text
    if not is_participle(text):
        return False
    # States choose rows in any position: `flights delayed` are not all flights.
    if any(text.startswith(state) for state in _STATES):
        return True
    following = items[place + 1] if place + 1 < len(items) else None
    before = items[place - 1] if place else None
    is_before_noun = following is not None and bool(following.row_tables or following.columns)
    is_behind_noun = before is not None and bool(before.row_tables or before.columns or before.values)
    is_verb = before is not None and before.text in _COPULAS | _SUBJECTS
    return is_before_noun and not is_behind_noun and not is_verb


_SUBJECTS = frozenset({"who", "which", "that", "we", "they", "i", "you", "have", "has", "had", "to"})


def _follows_noun(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if an unknown participle stands behind a noun: `units shipped`, `calories burnt by month`."""
    if not place or not is_participle(items[place].text) or _tells_apart(items, place):
        return False
    before = items[place - 1]
    return bool(before.row_tables or before.columns or before.values)


def _says_event(item: QuestionItem) -> bool:
    """Tell if a word is a verb of what rows record: of events, or of the name of a column of times."""
    if (item.values and item.values[0].score >= 0.9) or (item.word in PEOPLE and item.columns):
        return False
    if is_action(item.text):
        best = item.columns[0] if item.columns else None
        is_name = best is not None and best.score >= MIN_NAMED_SCORE and best.coverage >= 1
        return best is None or not is_name or best.column.type == "datetime" or item.word.endswith("ed")
    is_participle = item.word.endswith("ed") and len(item.word) > 4
    return is_participle and bool(item.columns) and item.columns[0].column.type == "datetime"


def _known_cost(items: Sequence[QuestionItem], place: int) -> float | None:
    """The cost of a word that only belongs to the number or the name before it; None for others."""
    if items[place].word in _UNITS and place and items[place - 1].kind == "number":
        return UNIT_COST
    if _says_rate(items, place):
        return UNIT_COST
    if _says_how_often(items, place) or _completes_value(items, place):
        return POSTFIX_COST
    if restates_name(items, place):
        return EVENT_COST
    if names_kind(items, place) or grows_things(items, place) or _counts_measure(items, place):
        return EVENT_COST
    if items[place].text == "new" and place + 1 < len(items) and _is_new(items[place + 1]):
        return NEW_COST
    if _is_measured_quality(items, place):
        return 0.0
    if _names_whole(items, place):
        return EVENT_COST
    return MODIFIER_COST if modifies_name(items, place) else None


_WHOLES = word_set(
    """
    school company firm club league shop store gym clinic hospital library office fleet study sample survey
    season tournament system catalogue catalog menu portfolio organisation organization
    """
)
"""Nouns of what a whole table is about."""


def _names_whole(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if an unknown noun only says what all rows belong to: `the youngest pupil in the school`."""
    before = [item.text for item in items[max(place - 2, 0) : place]]
    is_last = place + 1 == len(items) or items[place + 1].kind == "sign"
    is_placed = len(before) > 1 and before[0] in ("in", "at", "of") and before[1] in ("the", "our", "this")
    return is_last and is_placed and items[place].text in _WHOLES and _is_unknown(items[place])


def _is_measured_quality(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if `by` and a measure tell what an unknown adjective orders: `most risky jobs by injuries`."""
    if not place or items[place - 1].text not in ("most", "least") or not _is_unknown(items[place]):
        return False
    return any(
        first.text == "by" and any(is_measurable(match.column) for match in second.columns[:1])
        for first, second in pairwise(items[place:])
    )


MODIFIER_COST = 0.15
"""Cost of an unknown word beside the full name of a column, to which it adds nothing."""
NEW_COST = 0.08
"""Cost of `new` before rows that all begin at some time: `new members per month`."""


def _is_new(item: QuestionItem) -> bool:
    """Tell if a noun names nothing but rows."""
    return bool(item.row_tables) and not item.values


def _counts_measure(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if `number of` stands before a number and behind its figure: `average number of complaints`."""
    if items[place].text != "number" or not 0 < place < len(items) - 2 or items[place + 1].text != "of":
        return False
    best = items[place + 2].columns[0] if items[place + 2].columns else None
    is_named = best is not None and best.score >= MIN_NAMED_SCORE and is_measurable(best.column)
    return is_named and items[place - 1].word in CLASSES["@agg"]


def _assumes(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a word begins an assumption, which no reading makes: `if everybody pays`."""
    return items[place].text == "if" and place > 0 and items[place - 1].text not in _WONDERING


_RELATIVES = frozenset({"who", "that", "which"})
_AUXILIARIES = word_set("have has had did do does were was are is still already")
"""Words between a relative pronoun and its verb."""
_CLAUSE_ENDS = word_set("by per and or versus vs than against compared for") | {",", "?"}
"""Words behind a relative clause."""


def _restricts(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a verb is all of a relative clause, so that it says which rows are meant: `those who stayed`.

    One that the rows themselves record restricts nothing: `customers who ordered` of orders.
    """
    item, start = items[place], place - 1
    if item.text in _AUXILIARIES:
        return False
    while start > 0 and items[start].text in _AUXILIARIES:
        start -= 1
    following = items[place + 1].text if place + 1 < len(items) else "?"
    if start < 1 or items[start].text not in _RELATIVES or following not in _CLAUSE_ENDS:
        return False
    if items[start - 1].text in _AUXILIARIES:
        return False  # `how many visits does that make`
    is_time = any(match.column.type == "datetime" for match in item.columns[:1])
    return not (is_time or item.row_tables or item.values or _is_own_event(items, item))


def _is_own_event(items: Sequence[QuestionItem], item: QuestionItem) -> bool:
    """Tell if a verb is that of a noun that names rows: `visitors who visited`."""
    nouns = (other.word for other in items if other.row_tables and other is not item)
    return any(stem(noun)[:MIN_EVENT_LETTERS] == stem(item.word)[:MIN_EVENT_LETTERS] for noun in nouns)


MIN_EVENT_LETTERS = 5
"""Letters that a verb and the noun of its rows begin with."""


def _says_share(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a percent sign asks for a share, and is no unit of a number: `what % of orders`."""
    return items[place].text == "%" and not (place and items[place - 1].kind == "number")


def skip_word(sketch: Sketch, items: Sequence[QuestionItem]) -> Sketch:
    """The sketch that leaves out the word at its place."""
    item = items[sketch.place]
    link = item.text if item.text in _LINKS else ""
    # A sign or a link has no meaning of its own: what it joins is read by the steps of the nouns.
    if item.kind == "sign" or link:
        is_cue = _denies_again(items, sketch.place) or _says_share(items, sketch.place)
        return sketch.skip(CUE_COST if is_cue else 0.0, False, link)
    if _restricts(items, sketch.place):
        return sketch.skip(CONTENT_COST, True)
    return (_skip_rate if _names_rate(items, sketch.place) else _skip_word)(sketch, items)


def _skip_rate(sketch: Sketch, items: Sequence[QuestionItem]) -> Sketch:
    name = items[sketch.place - 1].columns[0].column.name
    return sketch.skip(EVENT_COST, False).with_note(f"`{name}` is taken for the rate.")


MAX_LABEL_LETTERS = 3
"""Letters of a value that is no filler although its word is one of grammar elsewhere."""


def _skip_word(sketch: Sketch, items: Sequence[QuestionItem]) -> Sketch:
    item = items[sketch.place]
    is_told = _tells_column(items, sketch.place) or tells_time(sketch, items)
    cost = EVENT_COST if is_told else _known_cost(items, sketch.place)
    if cost is not None:
        return sketch.skip(cost, False)
    if _assumes(items, sketch.place) or any(denies_flag(item.text, match.column) for match in item.columns):
        return sketch.skip(CONTENT_COST, True)  # `those who stayed` is no event: it says which rows
    cues = [cue for cue in find_cues(items, sketch.place) if not cue.argument.startswith("between")]
    # `dropped calls`: verbs of a change are more often events.
    kinds = {cue.kind for cue in cues} - {"shift", "each"}
    is_asking = item.word not in ("number", "times") or any(cue.size > 1 for cue in cues)
    # A second question that is left out would be one that is not answered.
    if joins_question(sketch, items):
        return sketch.skip(CONTENT_COST, True)
    if kinds & {"ask", "count"} and is_asking:
        return sketch.skip(ASKING_COST, False)
    is_noun = bool(item.values and item.values[0].score >= 0.9) or bool(item.columns or item.row_tables)
    is_vague = not item.columns or item.columns[0].score < MIN_VERB_SCORE
    is_unknown = is_vague and not (item.values or item.row_tables or kinds)
    is_event = is_vague and bool(item.row_tables) and not item.values  # `suites booked online`
    if (is_unknown or is_event) and _follows_noun(items, sketch.place):
        return sketch.skip(POSTFIX_COST, False)
    if says_happened(items, sketch.place, "all" in sketch.flags):
        return sketch.skip(HAPPENED_EVENT_COST, False)
    if _says_event(item) and not (is_unknown and _tells_apart(items, sketch.place)):
        is_measured = any(is_measurable(m.column) and m.score >= MIN_VERB_SCORE for m in item.columns[:1])
        return sketch.skip(MEASURED_EVENT_COST if is_measured or "zero" in kinds else EVENT_COST, False)
    is_label = len(item.text) <= MAX_LABEL_LETTERS and bool(item.values)  # `pier A`, `qty in per warehouse`
    if is_filler(item.text) and not is_label and not (is_noun and len(item.word) > 3):
        is_cue = bool(kinds - {"show", "ask", "count"})
        return sketch.skip(CUE_COST if is_cue else 0.0, False)
    if kinds:
        return sketch.skip(CUE_COST, True)
    return sketch.skip(CONTENT_COST, True)
