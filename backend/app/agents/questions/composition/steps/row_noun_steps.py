"""Steps of a sketch over nouns that name the rows of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.composition.persons import person_column
from app.agents.questions.composition.sketch import NOTHING, Mention, Ranking, Sketch
from app.agents.questions.composition.steps.number_steps import counted_rows_bound
from app.agents.questions.composition.steps.value_steps import MIN_BARE_VALUE_SCORE
from app.agents.questions.figures import SHARE_WORDS, entity_key, entity_name, key_of_things
from app.agents.questions.grammar_words import COMPARATIVES, PERSON_NOUNS
from app.agents.questions.grouping import display_reference, owner_reference
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import STEM
from app.agents.questions.question_reading import QuestionReading, is_measurable, make_value

NAMED_ROWS_COST = 0.2
"""Cost of the rows of a table for a word that names a column of it: `products` of the lines of orders."""
VALUE_AS_ROWS_COST = 0.45
"""Cost of the rows of a table for a word that is a stored value: `women` of persons."""
UNNAMED_ROWS_COST = 0.15
"""Further cost of rows whose table has another name, for a word that names a measure too."""


def row_steps(sketch: Sketch, reading: QuestionReading, items: Sequence[QuestionItem]) -> Iterator[Sketch]:
    """Yield the sketches in which the item at the sketch's place names the rows of a table."""
    item = items[sketch.place]
    for number, table in enumerate(item.row_tables[:2]):
        mention = Mention(sketch.place, item, None, table)
        columns = [m for m in item.columns if m.score >= STEM and m.table == table and not m.column.unique]
        is_measured = any(is_measurable(m.column) for m in item.columns) and not sketch.counts
        cost = 0.1 * number + (NAMED_ROWS_COST if columns or is_measured else 0.0)
        if is_measured and stem(item.word) not in map(stem, words(table)):
            cost += UNNAMED_ROWS_COST
        cost = max(cost, VALUE_AS_ROWS_COST if _is_value(item) else 0.0)
        for step in _readings_of_rows(sketch, reading, mention):
            yield replace(step, cost=step.cost + cost)


DESCRIBED_THINGS_COST = 0.2
"""Cost of the rows of things that come back, for a figure of a measure of each row."""
_BELONGING = frozenset({"of", "for", "among", "by", "from", "with"})
"""Words between a measure and the things that have it."""
_DESCRIBING = word_set("under over above below aged who whose with without from in between older younger that")
"""Words that begin the description of what stands before them."""


def described_things(sketch: Sketch, reading: QuestionReading, mention: Mention) -> Iterator[Sketch]:
    """Yield the sketch in which things of several rows stand for those: `the wait of patients under 18`."""
    items, place = reading.text.items, sketch.place
    is_figure = bool(sketch.measures) and not (sketch.counts or sketch.rows or sketch.interrogative)
    is_waiting = replace(sketch.pending, adjective="") != NOTHING  # `is the wait longer for patients ...`
    if not is_figure or is_waiting or not 0 < place < len(items) - 1 or not mention.comes_back:
        return
    following = items[place + 1]
    is_described = following.text in _DESCRIBING or f"{following.text} than" in COMPARATIVES
    is_plural = mention.item.word.endswith("s") or mention.item.word in PERSON_NOUNS
    if (
        items[place - 1].text in _BELONGING
        and is_described
        and is_plural
        and sketch.measures[-1].table == mention.table
    ):
        rows = (*sketch.rows, replace(mention, value=None))
        label = mention.value.label if mention.value else ""
        step = sketch.advance([place], DESCRIBED_THINGS_COST, rows=rows, last="rows")
        yield step.with_note(
            f"Each row of `{mention.table}` counts, so that a `{label}` of several counts as often."
        )


def things_of_share(sketch: Sketch, reading: QuestionReading, mention: Mention) -> Iterator[Sketch]:
    """Yield the sketch in which a share is one of things of several rows: `percentage of customers who ...`."""
    items = reading.text.items
    is_first = not (sketch.measures or sketch.heads or sketch.rows or sketch.displayed)
    if "share" not in sketch.flags or not is_first or sketch.share_place < 0:
        return
    between = items[sketch.share_place + 1 : sketch.place]
    # Adjectives of the things may stand before their noun: `share of female patients`.
    adjectives = {condition.place for condition in sketch.conditions}
    is_behind = all(
        item.text in SHARE_WORDS or place in adjectives
        for place, item in enumerate(between, sketch.share_place + 1)
    )
    if is_behind and key_of_things(reading, mention.item):
        yield sketch.advance([sketch.place], rows=(replace(mention, value=None),), last="rows")


def _is_value(item: QuestionItem) -> bool:
    return bool(item.values) and item.values[0].score >= MIN_BARE_VALUE_SCORE


def _readings_of_rows(sketch: Sketch, reading: QuestionReading, mention: Mention) -> Iterator[Sketch]:
    pending, place = sketch.pending, sketch.place
    # Rows are different anyway: `different` needs a number that comes back.
    if pending.is_distinct and not entity_key(reading, mention.item.word, mention.table):
        yield from _distinct_persons(sketch, reading, mention)
        return
    pending = replace(pending, is_distinct=False)
    if bounded := counted_rows_bound(sketch, mention):
        yield bounded
        return
    if pending.superlative and pending.key_word == "by" and sketch.counts and (sketch.heads or sketch.rows):
        # `top 3 users by number of plays`
        ranking = Ranking(pending.superlative, place, mention, pending.superlative_count, pending.ordinal)
        yield sketch.advance([place], ranking=ranking, counts=False, pending=NOTHING, last="rows")
        return
    in_list = sketch.last == "key" and sketch.link in ("and", ",", "&", "/")
    if pending.key_word or in_list:
        grouped = [*_grouping_rows(sketch, reading, mention)]
        yield from grouped
        if pending.key_word or grouped:
            return  # `per order and customer` names no rows
    asks_who = sketch.interrogative == "who" and not sketch.rows
    is_other = bool(sketch.rows) and sketch.rows[0].table != mention.table
    # `customers without orders` are those to whom no row of orders belongs.
    if pending.is_negated and pending.number is None and (asks_who or is_other):
        yield from _absent_rows(sketch, reading, mention)
        return
    if pending.is_negated and pending.number is None and _has_denied_date(sketch, reading):
        flags, denied_from = sketch.flagged("never"), max(sketch.never_place, sketch.place - 1)
        denied = replace(pending, is_negated=False)
        rows = (*sketch.rows, mention)
        yield sketch.advance(
            [place], rows=rows, pending=denied, flags=flags, never_place=denied_from, last="rows"
        )
    if pending.superlative in ("most", "fewest", "least", "highest", "largest") and (
        sketch.heads or sketch.rows or sketch.interrogative
    ):
        ranking = Ranking(pending.superlative, place, mention, pending.superlative_count, pending.ordinal)
        yield sketch.advance([place], ranking=ranking, pending=NOTHING, last="rows")
    yield sketch.advance([place], rows=(*sketch.rows, mention), pending=pending, last="rows")


def _distinct_persons(sketch: Sketch, reading: QuestionReading, mention: Mention) -> Iterator[Sketch]:
    """Yield the sketch in which different persons are counted by their names: `distinct champions`."""
    person = person_column(reading.copy(), mention.table) if mention.item.word in PERSON_NOUNS else None
    if person is None or person.value is None or not sketch.counts:
        return
    noun = replace(mention, value=person.value, table=person.table)
    note = f"`{person.value.label}` is taken for {mention.item.text!r}."
    cleared = replace(sketch.pending, is_distinct=False)
    flags, heads = sketch.flagged("distinct"), (*sketch.heads, noun)
    yield sketch.advance([sketch.place], heads=heads, pending=cleared, flags=flags, last="head").with_note(note)


def _has_denied_date(sketch: Sketch, reading: QuestionReading) -> bool:
    """Tell if things of several rows have none of a time: `customers with no orders in 2026`."""
    subjects = [noun for noun in (*sketch.heads, *sketch.displayed) if noun.comes_back]
    dates = [condition for condition in reading.conditions if condition.is_date]
    return bool(subjects) and any(condition.place > sketch.place for condition in dates)


LISTED_KEY_COST, SINGLE_ROW_COST = 0.05, 0.3
"""Cost of rows as a further group of a list, and of an aggregate of groups of one row each."""


def _grouping_rows(sketch: Sketch, reading: QuestionReading, mention: Mention) -> Iterator[Sketch]:
    """Yield the sketches in which rows are groups: `per order and customer`, where each row is an order."""
    own = sketch.measures[-1] if sketch.measures and sketch.measures[-1].divisor is None else None
    cleared = replace(sketch.pending, key_word="")
    is_single = own is not None and own.table == mention.table
    if sketch.pending.key_word == "per" and own is not None and is_single:
        # `the fee per hire`: each row is a hire, so that it is the mean
        measures = (*sketch.measures[:-1], replace(own, functions=own.functions or ("mean",)))
        yield sketch.advance([sketch.place], measures=measures, pending=cleared, last="key")
    if key := _row_key(reading, mention, sketch):
        reference = key.value.reference if key.value else None
        cost = 0.0 if sketch.pending.key_word else LISTED_KEY_COST
        cost += SINGLE_ROW_COST if is_single and reference is not None and reference.column.unique else 0.0
        yield sketch.advance([sketch.place], cost, keys=(*sketch.keys, key), pending=cleared, last="key")


def _absent_rows(sketch: Sketch, reading: QuestionReading, mention: Mention) -> Iterator[Sketch]:
    """Yield the sketch in which no such row belongs to the rows asked for: `who has never ordered anything`."""
    rows = sketch.rows
    if not rows:
        owners = {link.single for link in reading.scope.links if link.many == mention.table}
        rows = (replace(mention, table=owners.pop()),) if len(owners) == 1 else ()
    if rows and reading.scope.link(mention.table, rows[0].table):
        absent = (*sketch.absent, mention.table)
        denied = sketch.never_place if sketch.never_place >= 0 else sketch.place
        yield sketch.advance(
            [sketch.place], rows=rows, absent=absent, pending=NOTHING, never_place=denied, last="rows"
        )


def _row_key(reading: QuestionReading, mention: Mention, sketch: Sketch) -> Mention | None:
    """The name of the rows of another table as a group (`orders per customer`), or a number that repeats."""
    single = reading.scope.table(mention.table)
    word, table = mention.item.word, mention.table
    if entity := entity_key(reading, word, table) or entity_name(reading, word, table):
        return replace(mention, value=make_value(display_reference(reading, entity)))
    links = [link for link in reading.scope.links if link.single == single.name]
    if not links:
        return None
    reference = owner_reference(reading, links[0])
    return replace(mention, value=make_value(reference)) if reference else None
