"""The outcome of two readings of a question: that by rules, and those that the fitted decoder writes.

The two fail on different questions. Of the untuned training questions that rules were sure of, 5 % are
wrong where the decoder comes to the same plan, and 38 % where it does not.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from app.agents.questions.answered_words import unaccounted_words
from app.agents.questions.claimed_words import names_one_row, passes_over, unclaimed_words
from app.agents.questions.composition.composer import MAX_OFFERED, plan_columns
from app.agents.questions.learned.reading import LearnedReading, LearnedReadings
from app.agents.questions.parsed_plans import describe_reading
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.plan_meaning import meaning_of
from app.agents.questions.programs.expressible_plans import is_expressible
from app.plans.plan import Plan

MIN_AGREEING = 0.05
"""Probability of a plan by the decoder from which it confirms that by rules."""
MIN_ALONE = 0.85
"""Probability from which a plan of the decoder answers a question that rules are not sure of: of such answers
to the untuned training questions 46 of 51 are right, of those from 0.7 to 0.85 21 of 28."""
MAX_YIELDING, MIN_OVERRULING, MIN_DOUBTING = 0.75, 0.9, 0.3
"""Confidence below which a plan by rules yields to another of the decoder, or is asked about, and the
probabilities which that needs. Surer plans by rules do not: plain questions would go wrong.
Of 12 plans to the untuned training questions that are asked about so, 8 were wrong."""
MIN_OFFERED = 0.08
"""Probability from which a plan of the decoder is offered where a question is asked back."""
MAX_CONFIDENCE, MAX_UNCONFIRMED = 0.95, 0.7
"""Confidence in a plan on which both agree, and in one by rules that the decoder does not write."""


def settle(
    parsed: ParsedQuestion | UnparsedQuestion, learned: LearnedReadings, unknown: Collection[str] = ()
) -> ParsedQuestion | UnparsedQuestion:
    """Return the outcome of a question: by rules where they are sure, else by the decoder.

    `unknown`: words of which neither rules nor the tables know anything. The decoder must take each of them for
    a column of its plan: else it would pass over what somebody asked for.
    """
    best = learned.readings[0] if learned.readings else None
    if isinstance(parsed, ParsedQuestion):
        return _confirm(parsed, learned, unknown) if best is not None or learned.none else parsed
    if best is None or parsed.is_settled:
        return parsed
    if best.probability >= MIN_ALONE and _uses_all(best, learned, unknown):
        return _described(best)
    return replace(parsed, readings=_offered(parsed.readings, learned.readings))


def _uses_all(best: LearnedReading, learned: LearnedReadings, unknown: Collection[str]) -> bool:
    """Tell if a plan passes over no word: none that names something or asks for an order or a figure."""
    if not all(learned.takes(word, best) for word in unknown):
        return False
    columns = [*plan_columns(best.plan, best.reading.scope)]
    if unaccounted_words(best.plan, best.reading, columns):
        return False
    return not unclaimed_words(best.plan, best.reading.text.items, columns)


def _confirm(
    parsed: ParsedQuestion, learned: LearnedReadings, unknown: Collection[str]
) -> ParsedQuestion | UnparsedQuestion:
    """Return a plan by rules, surer the likelier it is by the decoder; or a plan of which that is surer.

    Where neither is sure, the question is open. The decoder has a say only in what a program can ask for, and
    with a plan that passes over no word.
    """
    agreeing = sum(entry.probability for entry in learned.readings if _agree(entry.plan, parsed.plan))
    if agreeing >= MIN_AGREEING:
        confidence = parsed.confidence + max(0.0, MAX_CONFIDENCE - parsed.confidence) * agreeing
        return parsed.model_copy(update={"confidence": round(confidence, 2)})
    best = learned.readings[0] if learned.readings else None
    is_doubtful = parsed.confidence < MAX_YIELDING and best is not None and best.probability >= MIN_DOUBTING
    if best is not None and is_doubtful and _opposes(best, parsed, learned, unknown):
        if best.probability >= MIN_OVERRULING:
            return _described(best)
        return UnparsedQuestion(
            "It can be read in several ways.", readings=_offered((parsed,), learned.readings)
        )
    return parsed.model_copy(update={"confidence": min(parsed.confidence, MAX_UNCONFIRMED)})


def _opposes(
    best: LearnedReading, parsed: ParsedQuestion, learned: LearnedReadings, unknown: Collection[str]
) -> bool:
    """Tell if a plan of the decoder speaks against one by rules that a program could ask for as well."""
    columns = [*plan_columns(best.plan, best.reading.scope)]
    if names_one_row(best.plan, columns) and names_one_row(parsed.plan, columns):
        return False  # of one row the mean is the value itself
    names = {column.name for column in columns}
    if any(passes_over(item, parsed.columns, names) for item in best.reading.text.items):
        return False
    derived = best.reading.scope.derived.values()
    return is_expressible(parsed.plan, derived) and _uses_all(best, learned, unknown)


def _offered(
    by_rules: Sequence[ParsedQuestion], learned: Sequence[LearnedReading]
) -> tuple[ParsedQuestion, ...]:
    """The readings that a question offers: the likeliest of the decoder and the nearest by rules, in turn."""
    likely = [_described(entry) for entry in learned if entry.probability >= MIN_OFFERED]
    offered: list[ParsedQuestion] = []
    for place in range(max(len(likely), len(by_rules))):
        for readings in (likely, by_rules):
            if place < len(readings) and not any(_agree(readings[place].plan, o.plan) for o in offered):
                offered.append(readings[place])
    return tuple(offered[:MAX_OFFERED])


def _described(entry: LearnedReading) -> ParsedQuestion:
    parsed = describe_reading(entry.plan, entry.reading, min(entry.probability, MAX_CONFIDENCE))
    return parsed.model_copy(update={"is_by_decoder": True})


def _agree(first: Plan, second: Plan) -> bool:
    return meaning_of(first).agrees(meaning_of(second))
