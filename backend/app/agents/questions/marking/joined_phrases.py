"""Phrases that name one column together: `body weight`, `span of the writing hand`, `savings rate`."""

from dataclasses import replace

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import STEM, ColumnMatch, name_parts, word_strength
from app.agents.questions.question_reading import is_measurable

_FLOWS = word_set(
    "revenue revenues turnover takings proceeds earnings spending spend expenditure income sales money"
)
"""Nouns behind the name of an amount that only say that it is money which changes hands."""
MIN_AMOUNT_SCORE = 0.97
"""Score of an amount that its whole name means."""


def _names_flow(before: QuestionItem, item: QuestionItem) -> bool:
    """Tell if a noun of money only says of which kind the amount before it is: `food revenue` of `food`."""
    best = before.columns[0] if before.columns else None
    is_amount = best is not None and best.score >= MIN_AMOUNT_SCORE and is_measurable(best.column)
    is_vague = not item.columns or item.columns[0].score < MIN_AMOUNT_SCORE
    return is_amount and is_vague and item.word in _FLOWS and item.kind == "word"


def join_modifiers(items: list[QuestionItem]) -> list[QuestionItem]:
    """Join neighbours that name parts of one column: `body weight`, `span of the writing hand`."""
    joined: list[QuestionItem] = []
    for item in items:
        before = joined[-1] if joined else None
        if before is not None and _names_flow(before, item):
            text = f"{before.text} {item.text}"
            joined[-1] = replace(before, text=text, columns=before.columns[:1], values=(), row_tables=())
            continue
        if before is None or not item.columns:
            if before is not None and (completed := _completed_columns(before, item)):
                joined[-1] = replace(
                    before, text=f"{before.text} {item.text}", columns=completed, values=(), row_tables=()
                )
            else:
                joined.append(item)
            continue
        links = 0
        while (
            joined
            and len(joined) > links
            and joined[-1 - links].text in ("of", "the")
            and not joined[-1 - links].columns
        ):
            links += 1
        if links and (len(joined) <= links or not any(i.text == "of" for i in joined[-links:])):
            links = 0
        partner = joined[-1 - links]
        if partner.kind == "word" and (shared := _shared_columns(partner, item)):
            del joined[len(joined) - links - 1 :]
            joined.append(replace(item, text=f"{partner.text} {item.text}", columns=shared, values=()))
            continue
        joined.append(item)
    return joined


_COMPLETED_WEIGHT = 0.8
"""Share of what a score lacks to 1 that a word of grammar adds where it completes a name: such a word may as
well belong to the grammar, so a completed name stays below a name that is written out."""


def _completed_columns(first: QuestionItem, second: QuestionItem) -> tuple[ColumnMatch, ...]:
    """Columns of which a phrase names a part and a word of grammar behind it another: `savings rate`."""
    if first.kind != "word" or second.kind != "word" or len(second.word) <= 3:
        return ()
    completed = []
    for match in first.columns:
        parts = name_parts(match.column.name)
        own = [part for part in parts if word_strength(second.word, part) >= STEM]
        if match.coverage < 1 and own and word_strength(first.word, own[0]) < STEM:
            coverage = min(match.coverage + len(own) / len(parts), 1.0)
            score = min(match.score + (1 - match.score) * coverage * _COMPLETED_WEIGHT, 1.0)
            completed.append(ColumnMatch(match.table, match.column, score, coverage))
    return tuple(sorted(completed, key=lambda match: -match.score))


_SHARED_WEIGHT, _SHARED_COVERAGE_WEIGHT, _SHARED_BONUS = 0.5, 0.25, 0.15
"""Score of a column that two phrases name parts of: the mean of their scores, more by how much of its name they
cover, and a bonus for their agreement. So two halves of a name outdo a column that one of them fits better."""


def _shared_columns(first: QuestionItem, second: QuestionItem) -> tuple[ColumnMatch, ...]:
    """Columns that two phrases name different parts of."""
    if not first.columns or not second.columns:
        return ()
    # Two full names are two columns.
    if first.columns[0].coverage >= 1 and second.columns[0].coverage >= 1:
        return ()
    others = {match.key: match for match in second.columns}
    shared = []
    for match in first.columns:
        other = others.get(match.key)
        if (
            other is None
            or match.coverage >= 1
            or other.coverage >= 1
            # `rate` and `rates` both name one part: they add nothing to each other.
            or _names_same_part(first, second, match.column)
        ):
            continue
        coverage = min(match.coverage + other.coverage, 1.0)
        weight = _SHARED_WEIGHT + _SHARED_COVERAGE_WEIGHT * coverage
        score = min((match.score + other.score) * weight + _SHARED_BONUS, 1.0)
        shared.append(ColumnMatch(match.table, match.column, score, coverage))
    return tuple(sorted(shared, key=lambda match: -match.score))


def _names_same_part(first: QuestionItem, second: QuestionItem, column: Column) -> bool:
    def part_of(item: QuestionItem) -> int:
        parts = name_parts(column.name)
        return max(range(len(parts)), key=lambda n: word_strength(item.word, parts[n]))

    return part_of(first) == part_of(second)
