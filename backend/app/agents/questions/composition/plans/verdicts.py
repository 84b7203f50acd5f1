"""Yes or no for two groups that a question sets against each other: `are beeches taller than oaks`."""

from collections.abc import Sequence

from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.grammar_words import CLASSES, COMPARATIVES, PACE_WORDS
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.question_reading import Condition, QuestionReading
from app.plans import build
from app.plans.expressions import Expression, Scalar
from app.plans.plan import DeriveStep, GroupStep, Plan, SelectStep, SortStep, Step

_AUXILIARIES = word_set("is are was were am do does did has have had can could will would")
"""First words of questions that are answered by yes or no."""
_PACES = frozenset({"faster", "quicker", "slower"})
"""Comparatives of which it depends on the measure whether more is more of it."""
_OPPOSITE: dict[str, build.ComparisonSign] = {"<": ">", ">": "<"}
OTHER = "than the other"
"""End of the name of the column that says yes or no."""


MARGIN = "difference from the other"
"""Name of the column that says by how much a figure differs."""


def add_verdict(plan: Plan, reading: QuestionReading, has_margin: bool = False) -> Plan:
    """Say for each of two compared groups whether its figure is the higher, or lower, one that is asked about.

    `has_margin`: say by how much, too. The group that the question names first comes first. Other plans are
    returned as they are.
    """
    comparative = _comparative(reading.text.items)
    subject = _subject(reading)
    groups = [(place, step) for place, step in enumerate(plan.steps) if isinstance(step, GroupStep)]
    if comparative is None or subject is None or len(groups) != 1:
        return plan
    place, group = groups[0]
    rest = plan.steps[place + 1 :]
    # Steps that drop groups or rows would take away the other side of the comparison.
    if len(group.keys) != 1 or not _only_orders(rest):
        return plan
    key, figure = group.keys[0], group.aggregations[0]
    if len(group.aggregations) > 1 and figure.function != "share_true":
        return plan  # of a share, the number of rows beside it says how many it is of
    sign = comparative[1]
    if comparative[0] in _PACES and PACE_WORDS & {*name_parts(figure.column or "")}:
        sign = _OPPOSITE[sign]
    own, verdict = build.column(figure.name), f"{comparative[0]} {OTHER}"
    # Of two figures the higher one is above their mean, and twice it above their sum; equal ones are neither
    # higher nor lower. A group without rows has no mean, and nothing to count or to add up.
    is_additive = figure.function in ("count", "count_distinct", "sum")
    both = f"{'total' if is_additive else 'mean'} of both {figure.name}"
    compared_figure = build.arithmetic("+", own, own) if is_additive else own
    steps: list[Step] = [
        build.window(both, "sum" if is_additive else "mean", figure.name),
        build.derive(verdict, build.compare(sign, compared_figure, build.column(both))),
        *([build.derive(MARGIN, _difference(own, compared_figure, build.column(both)))] if has_margin else []),
        build.sort((key, subject)),
        build.select([key, *(entry.name for entry in group.aggregations), verdict, *([MARGIN] * has_margin)]),
    ]
    return plan.model_copy(update={"steps": [*plan.steps[: place + 1], *steps]})


def has_verdict(plan: Plan) -> bool:
    """Tell if a plan says yes or no for two groups."""
    derived = [column for step in plan.steps if isinstance(step, DeriveStep) for column in step.columns]
    return any(column.name.endswith(f" {OTHER}") for column in derived)


def _difference(own: Expression, compared: Expression, both: Expression) -> Expression:
    """A figure less the other one, from the mean or the total of both: twice the way from their middle."""
    distance = build.arithmetic("-", compared, both)
    # Of a mean the other figure is as far away on the other side; a total has both figures in it already.
    return distance if compared is not own else build.arithmetic("*", build.literal(2), distance)


def _only_orders(steps: Sequence[Step]) -> bool:
    return all(isinstance(step, SortStep | SelectStep) for step in steps)


def _comparative(items: Sequence[QuestionItem]) -> tuple[str, build.ComparisonSign] | None:
    """Return the comparative of a yes or no question, and the sign that it stands for."""
    texts = [item.text for item in items]
    # A negated question has no plain yes: `isn't it warmer`.
    if not texts or texts[0] not in _AUXILIARIES or CLASSES["@not"] & set(texts):
        return None
    than = next((place for place, text in enumerate(texts) if text.split()[-1:] == ["than"]), 0)
    for text in texts[: than + 1]:
        word = text.removesuffix(" than")
        sign = COMPARATIVES.get(f"{word} than")
        if sign in ("<", ">"):
            return word, sign  # type: ignore[return-value]
    return None


def _subject(reading: QuestionReading) -> bool | None:
    """Tell if the group that is named first has the greater key, where two groups are compared."""
    pairs: list[Condition] = [c for c in reading.conditions if c.is_compared and len(c.values) == 2]
    if len(reading.keys) != 1 or len(pairs) > 1:
        return None
    if pairs:
        return _is_greater(*pairs[0].values)
    # The rows of a condition against the others: `is it warmer on weekends than on other days`
    return True if reading.keys[0].type == "boolean" else None


def _is_greater(first: Scalar, second: Scalar) -> bool:
    if isinstance(first, str) or isinstance(second, str):
        return str(first) > str(second)
    return first > second
