"""Changes of each of some things between two points: `how much did each pupil gain from week 1 to week 8`."""

from collections.abc import Iterator

from app.agents.questions.composition.plans.comparisons import (
    compared_pair,
    later_first,
    measured_figure,
    name_point,
)
from app.agents.questions.composition.plans.series import names_decline, of_ranked
from app.agents.questions.composition.sketch import Sketch
from app.agents.questions.grammar_words import LOW
from app.agents.questions.question_reading import QuestionReading
from app.agents.questions.rows_plan import Figure, PlanDraft, start_plan
from app.plans import build
from app.plans.plan import Plan

_FALLS = frozenset(
    {"lower", "less", "fewer", "worse", "smaller", "declined", "dropped", "fell", "lost", "decreased"}
)
_RISES = frozenset(
    {"higher", "more", "better", "greater", "larger", "improved", "gained", "rose", "increased", "grew"}
)
"""Words of things whose figure is below or above that of the earlier point."""


def plan_changes(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """Yield the figures of each thing at two points, with the change between them."""
    pair = compared_pair(reading)
    owners = [mention for mention in (*sketch.heads, *sketch.displayed) if mention.comes_back]
    keys = [*reading.keys, *(owner.value for owner in owners if owner.value)]
    nouns = len(sketch.heads) + len(sketch.displayed)
    if pair is None or len(keys) != 1 or not pair[0].is_date or nouns != len(owners):
        return
    figure, base, cost = measured_figure(of_ranked(sketch), reading)
    if figure is None or figure.parts:
        return
    # The answer has both figures: the groups that are compared are no condition any more.
    later, earlier = later_first(pair, reading)
    sides = [
        Figure(
            figure.function, figure.value, condition.expression, figure.share, label=f"{figure.name} of {label}"
        )
        for condition in (later, earlier)
        for label in [name_point(condition)]
    ]
    key = keys[0]
    draft = start_plan(reading, [key, *([figure.value] if figure.value else [])], base)
    draft.group([key], sides)
    name = draft.name_of(key)
    now, before = (build.column(side.name) for side in sides)
    draft.steps.append(build.derive("change", build.arithmetic("-", now, before)))
    draft.keep(build.is_present(build.column("change")))
    columns = [name, "change", *(side.name for side in sides)]
    yield from ((plan, cost + own) for plan, own in _ends(sketch, reading, draft, columns, bool(owners)))


def _ends(
    sketch: Sketch, reading: QuestionReading, draft: PlanDraft, columns: list[str], asks_things: bool
) -> Iterator[tuple[Plan, float]]:
    """Yield the ends of a plan: the thing with the extreme change, those that rose or fell, or all things."""
    texts = {item.text for item in reading.text.items}
    word = sketch.ranking.word if sketch.ranking else sketch.pending.superlative
    side = (texts & _RISES, texts & _FALLS)
    if word:
        is_down = names_decline(reading) == (word in LOW)
        draft.steps.append(build.window("rank", "rank", order=[("change", is_down)]))
        draft.keep(build.compare("=", build.column("rank"), build.literal(1)))
    elif asks_things and bool(side[0]) != bool(side[1]):
        draft.keep(build.compare(">" if side[0] else "<", build.column("change"), build.literal(0)))
        if sketch.counts:
            number = build.aggregation(f"number of {columns[0]}", "count")
            draft.steps.append(build.group([], [number]))
            yield draft.plan(), 0.0
            return
    elif asks_things or sketch.counts:
        return  # of which things the change is asked for is not told
    draft.steps.append(build.sort(("change", not names_decline(reading)), (columns[0], False)))
    draft.select(columns)
    yield draft.plan(), 0.0
