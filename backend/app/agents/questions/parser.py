"""The parser of questions: readings by all frames, of which the first that explains every word is taken."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from app.agents.goals import patterns
from app.agents.goals.costs import parse_costs
from app.agents.goals.intents import NO_MODEL
from app.agents.goals.stemming import stem
from app.agents.goals.tables import Column, TableProfile
from app.agents.goals.tokenizer import words
from app.agents.questions.conditions import parse_conditions
from app.agents.questions.coverage import uncovered_words
from app.agents.questions.date_conditions import parse_date_conditions
from app.agents.questions.derived_columns import derive_columns
from app.agents.questions.examples import example_questions
from app.agents.questions.frames import aggregates, counts, listings, overviews, rankings, series, shares
from app.agents.questions.grammar_words import KNOWN_WORDS
from app.agents.questions.grouping import group_by_condition, parse_groups
from app.agents.questions.items import QuestionItem
from app.agents.questions.marking import mark_items
from app.agents.questions.query import ParsedQuestion, UnparsedQuestion
from app.agents.questions.question_reading import NotUnderstood, QuestionReading
from app.agents.questions.scope import QuestionScope
from app.agents.questions.signs import NOT_OF_DATA, SIGNS
from app.errors import LabError
from app.modeling.problem.metrics import METRIC_PHRASES
from app.modeling.problem.name_resolution import nearest_names
from app.plans.compiler import compile_plan
from app.plans.describe import describe_plan
from app.plans.plan import Plan

_COURTESY = re.compile(r"^\W*(?:please|hi|hello|hey)\b\W*|\bplease\b", re.IGNORECASE)
MAX_WORDS = 300
"""Words of a question, each of which is searched in all names of a table. Answerable questions are shorter."""
MAX_EXPLAINED_WORDS = 5
"""Words that a refusal explains, each with a search for the nearest names."""
MIN_QUALITY = 0.45
"""Product of the strengths of all matches below which a reading is not taken."""

Frame = Callable[[QuestionReading], Plan | None]
WHOLE: tuple[Frame, ...] = (
    overviews.missing_values,
    listings.first_rows,
    overviews.describe,
    overviews.correlation,
    overviews.correlations_of_all,
)
"""Frames that read conditions and groups after their own words."""
FRAMES: tuple[Frame, ...] = (
    counts.count_groups,
    aggregates.mean_of_counts,
    series.running_total,
    series.moving_average,
    series.growth,
    shares.rate,
    shares.share,
    rankings.most_frequent,
    aggregates.ratio,
    rankings.superlative,
    overviews.distribution,
    overviews.time_span,
    aggregates.aggregate,
    counts.count_rows,
    counts.count_unmatched,
    listings.any_rows,
    listings.distinct_values,
    aggregates.count_by_group,
    aggregates.implied_aggregate,
    listings.list_rows,
)
"""Frames that find conditions and groups already read."""


class Attempt(NamedTuple):
    """A reading with its plan, and the words that it leaves unexplained."""

    reading: QuestionReading
    plan: Plan
    uncovered: list[str]


def is_question(goal: str) -> bool:
    """Tell if a goal asks for figures of existing rows instead of a prediction."""
    text = NO_MODEL.sub(" ", goal)
    looks_ahead = any(pattern.search(text) for pattern in (patterns.VERB, patterns.AHEAD.regex, NOT_OF_DATA))
    return bool(SIGNS.search(text)) and not looks_ahead and not _judges_a_model(text)


_NAMES_A_TARGET = re.compile(
    r"^\W*(?:who|which|whether|if|will|can|find|detect|classify|identify|tell|spot|flag|make|build|help)\b",
    re.IGNORECASE,
)
"""First words of goals whose object is a target rather than rows."""
_RESTRICTS = re.compile(
    r"\b(?:with|without|no|not|never|under|over|above|below|on|in|from|since|until|where)\b", re.IGNORECASE
)
"""Words that tie rows to a condition."""
MIN_DESCRIBING_WORDS = 3
"""Words of a phrase that describes rows by a condition."""


def describes_rows(goal: str, tables: Sequence[TableProfile]) -> ParsedQuestion | None:
    """Parse a phrase without any sign of a question that describes rows: `matches not yet played`."""
    text = NO_MODEL.sub(" ", goal)
    looks_ahead = any(pattern.search(text) for pattern in (patterns.VERB, patterns.AHEAD.regex, NOT_OF_DATA))
    is_short = len(words(text)) < MIN_DESCRIBING_WORDS or not _RESTRICTS.search(text)
    if looks_ahead or is_short or _NAMES_A_TARGET.search(text) or _judges_a_model(text):
        return None
    parsed = parse_question(goal, tables)
    is_restricted = isinstance(parsed, ParsedQuestion) and '"filter"' in parsed.plan.model_dump_json()
    return parsed if isinstance(parsed, ParsedQuestion) and is_restricted else None


def _judges_a_model(text: str) -> bool:
    """Tell if a text names a metric or costs of errors."""
    metrics = (pattern for pattern, metric in METRIC_PHRASES if metric != "top_3_accuracy")
    return parse_costs(text)[0] is not None or any(
        re.search(pattern, text, re.IGNORECASE) for pattern in metrics
    )


def parse_question(goal: str, tables: Sequence[TableProfile]) -> ParsedQuestion | UnparsedQuestion:
    """Parse a question about some tables. Ambiguous questions are returned unparsed, with options."""
    text = _COURTESY.sub(" ", NO_MODEL.sub(" ", goal)).strip()
    examples = example_questions(tables[0]) if tables else ()
    if len(words(text)) > MAX_WORDS:
        return UnparsedQuestion(f"It has more than {MAX_WORDS} words. Ask a shorter question.", examples)
    if not tables:
        return UnparsedQuestion("There is no table.")
    question_words = frozenset(map(stem, words(text)))
    profiles, derived = derive_columns(tables, question_words)
    scope = QuestionScope(tuple(profiles), question_words, derived)
    base = QuestionReading(scope, mark_items(text, profiles))
    best: Attempt | None = None
    refusal: NotUnderstood | None = None
    for attempt in _attempts(base):
        if isinstance(attempt, NotUnderstood):
            refusal = refusal or attempt
        elif not attempt.uncovered and attempt.reading.quality >= MIN_QUALITY:
            return _parsed(attempt)
        elif best is None or len(attempt.uncovered) < len(best.uncovered):
            best = attempt
    return _unparsed(text, best, refusal, tables, examples)


def _attempts(base: QuestionReading) -> Iterator[Attempt | NotUnderstood]:
    for frame in WHOLE:
        reading = base.copy()
        yield from _attempt(frame, reading, reads_conditions=True)
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
        if plan is None:
            return
        compile_plan(plan, reading.scope.schemas)
    except NotUnderstood as error:
        yield error
        return
    except (LabError, ValueError):
        return  # The parts do not fit together: this is no reading.
    columns = list(_plan_columns(plan, reading.scope))
    yield Attempt(reading, plan, uncovered_words(reading, columns, _plan_tables(plan)))


def _parsed(attempt: Attempt) -> ParsedQuestion:
    columns = [column.name for column in _plan_columns(attempt.plan, attempt.reading.scope)]
    return ParsedQuestion(
        plan=attempt.plan,
        description=describe_plan(attempt.plan),
        tables=tuple(_plan_tables(attempt.plan)),
        columns=tuple(dict.fromkeys(columns)),
        interpretations=tuple(attempt.reading.notes),
        confidence=round(min(0.95, 0.55 + 0.4 * attempt.reading.quality), 2),
    )


def _unparsed(
    text: str,
    best: Attempt | None,
    refusal: NotUnderstood | None,
    tables: Sequence[TableProfile],
    examples: tuple[str, ...],
) -> UnparsedQuestion:
    names = [column.name for table in tables for column in table.columns]
    if best is not None and best.uncovered and (refusal is None or len(best.uncovered) <= 2):
        described = ", ".join(_describe_word(word, names) for word in best.uncovered[:MAX_EXPLAINED_WORDS])
        return UnparsedQuestion(f"What is not understood: {described}.", examples)
    if refusal is not None:
        return UnparsedQuestion(str(refusal), refusal.reword(text) or examples)
    unknown = [
        item.word for item in mark_items(text, tables).items if item.kind == "word" and not _is_known(item)
    ][:MAX_EXPLAINED_WORDS]
    remark = (
        f" Nothing is known of {', '.join(_describe_word(word, names) for word in unknown)}." if unknown else ""
    )
    return UnparsedQuestion(f"It cannot be told which figure is asked for.{remark}", examples)


def _is_known(item: QuestionItem) -> bool:
    return bool(item.columns or item.values or item.row_tables) or item.word in KNOWN_WORDS


def _describe_word(word: str, names: Sequence[str]) -> str:
    nearest = nearest_names(word, names, 2)
    return f"{word!r}" + (f" (nearest: {', '.join(f'`{name}`' for name in nearest)})" if nearest else "")


def _plan_columns(plan: Plan, scope: QuestionScope) -> list[Column]:
    """Columns of the tables that a plan names, in order."""
    tables = [scope.table(name) for name in _plan_tables(plan)]
    mentioned: set[str] = set()
    _collect_texts(plan.model_dump(), mentioned)
    return [column for table in tables for column in table.columns if column.name in mentioned]


def _collect_texts(part: Any, texts: set[str]) -> None:
    if isinstance(part, str):
        texts.add(part)
    elif isinstance(part, dict | list | tuple):
        for value in part.values() if isinstance(part, dict) else part:
            _collect_texts(value, texts)


def _plan_tables(plan: Plan) -> list[str]:
    names: list[str] = []

    def visit(part: Any) -> None:
        if isinstance(part, dict):
            if part.get("kind") == "dataset":
                names.append(part["table"])
            for value in part.values():
                visit(value)
        elif isinstance(part, list):
            for value in part:
                visit(value)

    visit(plan.model_dump())
    return list(dict.fromkeys(names))
