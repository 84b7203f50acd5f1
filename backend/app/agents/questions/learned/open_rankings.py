"""Rankings that a question leaves open: the decoder writes the first of them, as of `the best agents`."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.questions.composition.ranking_order import OPEN_RANK_COUNT, noun_from
from app.agents.questions.grammar_words import SUPERLATIVES
from app.agents.questions.grammatical_number import names_several
from app.agents.questions.items import QuestionItem
from app.agents.questions.programs.program import Program, Term
from app.agents.questions.unexplained_words import MIN_PARTIAL_SCORE


def open_ranking(program: Program, items: Sequence[QuestionItem]) -> Program:
    """Return a program with as many of its groups or rows as its question asks for by a plural."""
    order = program.order
    if order is None or order.count != 1 or any(item.number == 1 for item in items):
        return program
    noun = _ranked_noun(items)
    names = {key.column for key in program.keys if isinstance(key, Term)}
    if noun is None or not names_several(noun, names):
        return program
    ranked = order.by.column if isinstance(order.by, Term) else order.by.term.column if order.by.term else None
    matched = {match.column.name for match in noun.columns if match.score >= MIN_PARTIAL_SCORE}
    is_ranked = bool(names & matched) if names else program.shows == "rows" and bool(noun.row_tables)
    if not is_ranked or ranked in matched:
        return program
    return replace(program, order=replace(order, count=OPEN_RANK_COUNT))


def _ranked_noun(items: Sequence[QuestionItem]) -> QuestionItem | None:
    """The noun behind the first superlative."""
    place = next((place for place, item in enumerate(items) if item.text in SUPERLATIVES), None)
    return None if place is None else noun_from(items, place + 1)
