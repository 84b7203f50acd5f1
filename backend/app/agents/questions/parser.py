"""The parser of questions: readings by all frames, of which the first that explains every word is taken."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from app.agents.goals.phrases import patterns
from app.agents.goals.phrases.costs import parse_costs
from app.agents.goals.phrases.intents import NO_MODEL
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.questions.agreement import settle
from app.agents.questions.answered_words import unaccounted_words
from app.agents.questions.composition.ambiguity import describe_ambiguity
from app.agents.questions.composition.completion import Composed
from app.agents.questions.composition.composer import (
    MIN_LEAD,
    RankedReading,
    compose,
    plan_columns,
    plan_tables,
)
from app.agents.questions.conditions.date_conditions import parse_date_conditions
from app.agents.questions.conditions.rule_order import parse_conditions
from app.agents.questions.conditions.times_of_day import CLOCK, reword_times
from app.agents.questions.examples import example_questions
from app.agents.questions.frames import (
    correlations,
    dependences,
    listings,
    overviews,
    pareto,
    returns,
    series,
    single_rows,
)
from app.agents.questions.grammar_words import CLASSES, KNOWN_WORDS, OPERATORS
from app.agents.questions.grouping import group_by_condition, parse_groups
from app.agents.questions.implied_columns import mark_implied
from app.agents.questions.items import QuestionItem
from app.agents.questions.learned.reading import read_question
from app.agents.questions.marking.mark_items import mark_items
from app.agents.questions.matching.absent_values import describe_absence
from app.agents.questions.parsed_plans import describe_reading
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.plan_checks import neglects_question
from app.agents.questions.question_cues import NOT_OF_DATA, SIGNS
from app.agents.questions.question_reading import (
    ImpossibleRequest,
    NotUnderstood,
    QuestionReading,
    contradicts_itself,
)
from app.agents.questions.rewording.bare_phrases import reword_bare_phrases
from app.agents.questions.rewording.calendar_parts import reword_calendar_parts
from app.agents.questions.rewording.checks_of_data import reword_checks
from app.agents.questions.rewording.contrasts import reword_contrasts
from app.agents.questions.rewording.defined_terms import reword_defined_terms
from app.agents.questions.rewording.group_extremes import reword_group_extremes
from app.agents.questions.rewording.measured_states import reword_measured_states
from app.agents.questions.rewording.metrics_of_field import reword_field_metrics
from app.agents.questions.rewording.misspellings import mend_grammar
from app.agents.questions.rewording.number_ranges import reword_ranges
from app.agents.questions.rewording.open_states import reword_states
from app.agents.questions.rewording.other_rows import reword_other_rows
from app.agents.questions.rewording.peaks_and_paces import reword_peaks_and_paces
from app.agents.questions.rewording.phrase_rewording import (
    reword,
    reword_last,
    reword_rates,
    reword_spans,
    split_preamble,
)
from app.agents.questions.rewording.placings import reword_placings
from app.agents.questions.rewording.scale_bounds import reword_scale_bounds
from app.agents.questions.rewording.second_facts import reword_second_facts
from app.agents.questions.rewording.signed_values import quote_signed_values
from app.agents.questions.rewording.span_terms import reword_span_terms
from app.agents.questions.rewording.spellings import respell
from app.agents.questions.rewording.unit_costs import reword_unit_costs
from app.agents.questions.tables.derived_columns import derive_columns
from app.agents.questions.tables.joined_products import derive_joined_products
from app.agents.questions.tables.scope import QuestionScope
from app.agents.questions.unexplained_words import uncovered_words
from app.errors import LabError
from app.modeling.problem.metrics import METRIC_PHRASES
from app.modeling.problem.name_resolution import nearest_names
from app.plans.compiler import compile_plan
from app.plans.plan import Plan

_COURTESY = re.compile(r"^\W*(?:please|hi|hello|hey)\b\W*|\bplease\b", re.IGNORECASE)
MAX_WORDS = 300
"""Words of a question, each of which is searched in all names of a table. Answerable questions are shorter."""
MAX_EXPLAINED_WORDS = 5
"""Words that a refusal explains, each with a search for the nearest names."""
MAX_CONFIDENCE, CONFIDENCE_PER_COST = 0.93, 0.7
"""Confidence of a composed reading without cost, and its loss with the cost (tuned questions)."""
MIN_QUALITY = 0.45
"""Product of the strengths of all matches below which a reading is not taken."""

Frame = Callable[[QuestionReading], Plan | None]
OVERVIEWS: tuple[Frame, ...] = (
    overviews.missing_values,
    listings.first_rows,
    overviews.describe,
    pareto.cumulative_shares,
    pareto.largest_groups,
    dependences.correlations_with_others,
    dependences.strongest_correlation,
    dependences.slope,
    correlations.correlation,
    correlations.correlations_of_all,
    returns.daily_returns,
    single_rows.rank_of_row,
    single_rows.repeated_rows,
    single_rows.rows_side_by_side,
)
"""Frames that read conditions and groups after their own words."""
FRAMES: tuple[Frame, ...] = (
    series.moving_average,
    overviews.distribution,
    overviews.time_span,
)
"""Frames that find conditions and groups already read."""


class Attempt(NamedTuple):
    """A reading with its plan, and the words that it leaves unexplained."""

    reading: QuestionReading
    plan: Plan
    uncovered: list[str]


def is_question(goal: str) -> bool:
    """Tell if a goal asks for figures of existing rows instead of a prediction."""
    text = mend_grammar(NO_MODEL.sub(" ", goal))
    looks_ahead = any(pattern.search(text) for pattern in (patterns.VERB, patterns.AHEAD.regex, NOT_OF_DATA))
    return bool(SIGNS.search(text)) and not looks_ahead and not judges_a_model(text)


def _base_reading(text: str, tables: Sequence[TableProfile]) -> QuestionReading:
    question_words = frozenset(map(stem, words(text)))
    profiles, derived = derive_joined_products(*derive_columns(tables, question_words))
    scope = QuestionScope(tuple(profiles), question_words, derived)
    return QuestionReading(scope, mark_items(text, profiles))


def _compose(base: QuestionReading, text: str, tables: Sequence[TableProfile]) -> RankedReading | None:
    """The best composed reading, with what the ranking of goals says of a noun that names nothing."""
    return compose(QuestionReading(base.scope, mark_implied(base.text, text, tables)))


def judges_a_model(text: str) -> bool:
    """Tell if a text names a metric or costs of errors."""
    metrics = (pattern for pattern, metric in METRIC_PHRASES if metric != "top_3_accuracy")
    return parse_costs(text)[0] is not None or any(
        re.search(pattern, text, re.IGNORECASE) for pattern in metrics
    )


def parse_question(goal: str, tables: Sequence[TableProfile]) -> ParsedQuestion | UnparsedQuestion:
    """Parse a question about some tables. Ambiguous questions are returned unparsed, with options.

    It is read twice, by rules and by the fitted decoder (`learned`): what both agree on is surer than either.
    """
    text = _COURTESY.sub(" ", NO_MODEL.sub(" ", goal)).strip()
    examples = example_questions(tables[0]) if tables else ()
    if len(words(text)) > MAX_WORDS:
        return UnparsedQuestion(f"It has more than {MAX_WORDS} words. Ask a shorter question.", examples)
    if not tables:
        return UnparsedQuestion("There is no table.")
    text = unchanged = reword_field_metrics(mend_grammar(text, tables), tables)
    text = reword_defined_terms(reword_peaks_and_paces(text, tables), tables)
    text = reword_ranges(quote_signed_values(reword_checks(respell(text, tables), tables), tables))
    text = reword_measured_states(reword_scale_bounds(text, tables), tables)
    text = reword_group_extremes(reword_span_terms(text, tables), tables)
    text = reword_placings(reword_states(reword_bare_phrases(text, tables), tables), tables)
    text = reword_unit_costs(reword_second_facts(reword(text), tables), tables)
    text = reword_last(reword_other_rows(reword_contrasts(text, tables), tables), tables)
    text = reword_rates(reword_spans(text, tables), tables)
    text, unread = split_preamble(reword_times(reword_calendar_parts(text, tables), tables), tables)
    base = _base_reading(text, tables)
    for part in unread:
        base.note(f"{part!r} is taken for a title.")
    # Overviews have words of their own, which a composed reading would take for nouns.
    if overview := _overview(base):
        return _parsed(overview)
    by_rules = _parse_by_rules(base, text, tables, examples)
    # What names no column, value or row is talk, whatever the decoder makes of it.
    if not any(item.columns or item.values or item.row_tables for item in base.text.items):
        return by_rules
    return settle(by_rules, read_question(unchanged, tables, base), _unknown_words(base.text.items, tables))


def _parse_by_rules(
    base: QuestionReading, text: str, tables: Sequence[TableProfile], examples: tuple[str, ...]
) -> ParsedQuestion | UnparsedQuestion:
    choice = _compose(base, text, tables)
    if choice is not None and choice.is_sure and choice.best.reading.quality >= MIN_QUALITY:
        return _composed(choice.best)
    if choice is not None and not choice.uncovered and choice.rival is not None:
        # Only readings about as cheap as the rival are named: dearer ones raise no doubt.
        near = [composed for composed in choice.nearest if composed.cost <= choice.rival.cost + MIN_LEAD]
        ambiguity = describe_ambiguity(near)
        parsed = UnparsedQuestion(ambiguity or "It can be read in several ways.", is_settled=bool(ambiguity))
    else:
        by_frames = _by_frames(base, text, choice, tables, examples)
        if isinstance(by_frames, ParsedQuestion):
            return by_frames
        parsed = by_frames
    return replace(parsed, readings=tuple(_offered(choice, base.scope)))


def _by_frames(
    base: QuestionReading,
    text: str,
    choice: RankedReading | None,
    tables: Sequence[TableProfile],
    examples: tuple[str, ...],
) -> ParsedQuestion | UnparsedQuestion:
    """The reading by the first frame that explains every word, unless a composed one opposes it."""
    best: Attempt | None = None
    refusal: NotUnderstood | None = None
    for attempt in _attempts(base):
        if isinstance(attempt, NotUnderstood):
            refusal = refusal or attempt
        elif _is_complete(attempt):
            # Two complete readings that differ mean that the question is ambiguous: it is asked back.
            if choice is not None and choice.opposes(attempt.plan):
                break
            return _parsed(attempt)
        elif best is None or len(attempt.uncovered) < len(best.uncovered):
            best = attempt
    unparsed = _unparsed(text, best, refusal, tables, examples)
    return _name_unanswered(unparsed, choice)


def _name_unanswered(unparsed: UnparsedQuestion, choice: RankedReading | None) -> UnparsedQuestion:
    """Add the words that the nearest reading leaves without effect, which the reason does not name yet."""
    uncovered = choice.uncovered if choice else []
    unnamed = [word for word in dict.fromkeys(uncovered) if f"'{word}'" not in unparsed.reason]
    if not unnamed:
        return unparsed
    described = ", ".join(repr(word) for word in unnamed[:MAX_EXPLAINED_WORDS])
    return replace(unparsed, reason=f"{unparsed.reason} No reading accounts for {described}.")


def _is_complete(attempt: Attempt) -> bool:
    """Tell if a reading explains every word. A share that is asked for is no list of rows."""
    asks_share = any(item.word in CLASSES["@share"] and not item.role for item in attempt.reading.text.items)
    # A list of the rows is no answer to `the share of late orders`, though it uses the other words.
    asks_share = asks_share and "share" not in attempt.plan.model_dump_json()
    return not attempt.uncovered and not asks_share and attempt.reading.quality >= MIN_QUALITY


def _offered(choice: RankedReading | None, scope: QuestionScope) -> Iterator[ParsedQuestion]:
    """Yield the nearest readings of a question that is not understood for sure."""
    for composed in choice.nearest if choice else ():
        try:
            compile_plan(composed.plan, scope.schemas)
        except (LabError, ValueError):
            continue  # its parts do not fit together
        yield _composed(composed)


def _overview(base: QuestionReading) -> Attempt | None:
    """The first reading as an overview that explains every word, if there is one."""
    attempts = (
        attempt for frame in OVERVIEWS for attempt in _attempt(frame, base.copy(), reads_conditions=True)
    )
    return next(
        (
            attempt
            for attempt in attempts
            if isinstance(attempt, Attempt) and not attempt.uncovered and attempt.reading.quality >= MIN_QUALITY
        ),
        None,
    )


def _attempts(base: QuestionReading) -> Iterator[Attempt | NotUnderstood]:
    for frame in OVERVIEWS:
        reading = base.copy()
        yield from _attempt(frame, reading, reads_conditions=True)
    # Conditions and groups are parsed once for all frames, each of which changes a copy.
    prepared = base.copy()
    try:
        parse_date_conditions(prepared)
        parse_groups(prepared)
        parse_conditions(prepared)
        group_by_condition(prepared)
    except NotUnderstood as error:
        yield error
        return
    for frame in FRAMES:
        yield from _attempt(frame, prepared.copy())


def _attempt(
    frame: Frame, reading: QuestionReading, reads_conditions: bool = False
) -> Iterator[Attempt | NotUnderstood]:
    try:
        if reads_conditions:
            parse_date_conditions(reading)
        plan = frame(reading)
        if plan is None or contradicts_itself(reading) or neglects_question(plan, reading):
            return
        compile_plan(plan, reading.scope.schemas)
    except NotUnderstood as error:
        yield error
        return
    except (LabError, ValueError):
        return  # The parts do not fit together: this is no reading.
    columns = list(plan_columns(plan, reading.scope))
    uncovered = uncovered_words(reading, columns, plan_tables(plan))
    yield Attempt(reading, plan, [*uncovered, *unaccounted_words(plan, reading, columns)])


def _composed(composed: Composed) -> ParsedQuestion:
    parsed = _parsed(Attempt(composed.reading, composed.plan, []))
    confidence = min(parsed.confidence, max(0.0, MAX_CONFIDENCE - CONFIDENCE_PER_COST * composed.cost))
    return parsed.model_copy(update={"confidence": round(confidence, 2)})


def _parsed(attempt: Attempt) -> ParsedQuestion:
    confidence = min(0.95, 0.55 + 0.4 * attempt.reading.quality)
    return describe_reading(attempt.plan, attempt.reading, confidence)


def _unparsed(
    text: str,
    best: Attempt | None,
    refusal: NotUnderstood | None,
    tables: Sequence[TableProfile],
    examples: tuple[str, ...],
) -> UnparsedQuestion:
    names = [column.name for table in tables for column in table.columns]
    if best is not None and best.uncovered and (refusal is None or len(best.uncovered) <= 2):
        described = ", ".join(
            _describe_word(word, names, tables) for word in best.uncovered[:MAX_EXPLAINED_WORDS]
        )
        return UnparsedQuestion(f"What is not understood: {described}.", examples)
    if refusal is not None:
        is_settled = isinstance(refusal, ImpossibleRequest) or bool(refusal.ambiguous)
        return UnparsedQuestion(str(refusal), refusal.reword(text) or examples, is_settled=is_settled)
    unknown = _unknown_words(mark_items(text, tables).items, tables)[:MAX_EXPLAINED_WORDS]
    remark = (
        f" Nothing is known of {', '.join(_describe_word(word, names, tables) for word in unknown)}."
        if unknown
        else ""
    )
    return UnparsedQuestion(f"It cannot be told which figure is asked for.{remark}", examples)


def _unknown_words(items: Sequence[QuestionItem], tables: Sequence[TableProfile]) -> list[str]:
    """Words of a question of which neither the tables nor the grammar know anything."""
    return [
        item.word
        for item in items
        if item.kind == "word" and not _is_known(item, tables) and item.word != CLOCK
    ]


def _is_known(item: QuestionItem, tables: Sequence[TableProfile]) -> bool:
    if item.values or item.row_tables or item.word in KNOWN_WORDS | OPERATORS:
        return True
    is_vague = bool(item.columns) and item.columns[0].score < MIN_KNOWN_SCORE
    return bool(item.columns) and not (is_vague and describe_absence(item.word, tables))


MIN_KNOWN_SCORE = 0.8
"""Score of a column below which a word may be a value that it lacks: `purple` of a `colour`."""


def _describe_word(word: str, names: Sequence[str], tables: Sequence[TableProfile]) -> str:
    if absence := describe_absence(word, tables):
        return f"{word!r} ({absence})"
    nearest = nearest_names(word, names, 2)
    return f"{word!r}" + (f" (nearest: {', '.join(f'`{name}`' for name in nearest)})" if nearest else "")
