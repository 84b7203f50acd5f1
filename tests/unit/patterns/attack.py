"""Texts that are made from a pattern to make it slow, and the growth of its steps with their length."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from re import _constants as ops  # type: ignore[attr-defined] # the parser of the standard library
from re import _parser as parser  # type: ignore[attr-defined] # the same
from typing import Any

from .steps import CountingMatcher, TooManySteps

ALPHABET = "a1_ -.,;:'\"`()[]{}<>\\/|=+*~!?$%@#é\n\t"
VARIANTS = 6
"""Samples of a node, at most: every alternative is tried at its own place too."""
MAX_SAMPLE_CHARACTERS = 60
"""Characters to which a sample is cut."""
ENDINGS = ("\0", "", "\n!")
"""Ends that let a match fail late. The first suffices for all but what takes any character."""
MAX_UNITS = 100
"""Repeated pieces that are tried for one pattern: evenly chosen where there are more."""
FIRST_REPEATS = 8
"""Repeats of the shortest text: few, for most patterns are plainly linear on it already."""
MAX_LENGTH = 8_000
"""Characters of the longest text."""
STEADY_LENGTH = 600
"""Characters of a text that shows what each further character costs: twice the usual bounds of repeats."""
LINEAR = 2.1
"""Growth of steps at double length that is not looked at again: 2 is linear, the ends of a text add to it."""
MAX_STEPS_PER_CHARACTER = 2_000
"""Of a goal's 10,000 characters, at about 5 ns for a step of `re`: 0.1 s for the slowest pattern."""
SUPERLINEAR = 2.0**1.5
"""Growth of steps at double length that is refused: 4 is quadratic."""


@dataclass(frozen=True)
class Growth:
    """Ratio of steps at double length, and the text that has it. Infinite where a search was stopped."""

    ratio: float
    length: int
    text: str


def attacks(pattern: "re.Pattern[Any]") -> list[Callable[[int], str]]:
    """Makers of texts by the number of repeats. A text begins like a match again and again, and fails late."""
    source = pattern.pattern
    text = source.decode("latin-1") if isinstance(source, bytes) else source
    tree = parser.parse(text, pattern.flags & ~re.UNICODE & ~re.DEBUG)
    letters = "".join(dict.fromkeys(ALPHABET + "".join(_literals(tree))))[:120]
    units: dict[tuple[str, str], None] = {}
    for prefix, pump in _pumps(list(tree), [""], letters):
        for head, body in ((prefix, pump), ("", prefix + pump), ("", prefix + pump + " "), ("", pump)):
            if body and len(body) <= 4 * MAX_SAMPLE_CHARACTERS:
                units[head[-MAX_SAMPLE_CHARACTERS:], body] = None
    sampled_units = list(units)[:: max(1, len(units) // MAX_UNITS)]
    return [
        _maker(head, body, end) for head, body in sampled_units for end in ENDINGS[: 3 if len(body) == 1 else 1]
    ]


def _maker(head: str, body: str, ending: str) -> Callable[[int], str]:
    return lambda repeats: head + body * repeats + ending


def _pumps(nodes: list[Any], prefixes: list[str], letters: str) -> Iterator[tuple[str, str]]:
    """A text that leads to each repeat, and one that it repeats; also what leads to every node."""
    for i, (op, value) in enumerate(nodes):
        for prefix in prefixes:
            yield prefix, ""
        for inner in _parts(op, value):
            yield from _pumps(inner, prefixes, letters)
        if op in _REPEATS:
            body = _of_sequence(list(value[2]), letters)
            after = _of_sequence(nodes[i + 1 : i + 3], letters)[:2]
            for prefix in prefixes:
                for text in [*body, *after]:
                    yield prefix, text
        here = _of_node(op, value, letters)
        joined = [prefix + text for prefix in prefixes for text in here]
        prefixes = list(dict.fromkeys([*joined[:: max(1, len(joined) // 3)]]))[:4]
    for prefix in prefixes:
        yield prefix, ""


_REPEATS = {ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT}


def _parts(op: Any, value: Any) -> list[list[Any]]:
    if op in _REPEATS:
        return [list(value[2])]
    if op is ops.SUBPATTERN:
        return [list(value[3])]
    if op is ops.ATOMIC_GROUP:
        return [list(value)]
    if op is ops.BRANCH:
        return [list(text) for text in value[1]]
    if op in (ops.ASSERT, ops.ASSERT_NOT):
        return [list(value[1])]
    if op is ops.GROUPREF_EXISTS:
        return [list(text) for text in value[1:] if text is not None]
    return []


def _of_sequence(nodes: list[Any], letters: str) -> list[str]:
    samples = [""]
    for op, value in nodes:
        here = _of_node(op, value, letters)
        samples = [text + more for text in samples for more in here][: VARIANTS * 4]
    return list(dict.fromkeys(text[:MAX_SAMPLE_CHARACTERS] for text in samples))[: VARIANTS * 4]


def _of_node(op: Any, value: Any, letters: str) -> list[str]:
    """Texts that a node matches."""
    if op is ops.LITERAL:
        return [chr(value)]
    if op in (ops.NOT_LITERAL, ops.ANY, ops.IN):
        matches = [text for text in letters if _fits(op, value, text)]
        return (matches or ["x"])[:12]
    if op in _REPEATS:
        low, high, body = value
        samples = _of_sequence(list(body), letters)
        return [text * max(low, min(1, high)) for text in samples[:VARIANTS]] + ([""] if low == 0 else [])
    if op is ops.BRANCH:
        return [text for branch in value[1] for text in _of_sequence(list(branch), letters)[:2]][: VARIANTS * 4]
    if op is ops.SUBPATTERN:
        return _of_sequence(list(value[3]), letters)
    if op is ops.ATOMIC_GROUP:
        return _of_sequence(list(value), letters)
    return [""]


def _fits(op: Any, value: Any, letter: str) -> bool:
    if op is ops.ANY:
        return letter != "\n"
    if op is ops.NOT_LITERAL:
        return ord(letter) != value
    negated = value[0][0] is ops.NEGATE
    return any(_in_class(kind, item, letter) for kind, item in value if kind is not ops.NEGATE) != negated


def _in_class(kind: Any, item: Any, letter: str) -> bool:
    if kind is ops.LITERAL:
        return ord(letter) == item
    if kind is ops.RANGE:
        return bool(item[0] <= ord(letter) <= item[1])
    return re.match(_CATEGORIES[item], letter) is not None


_CATEGORIES = {
    ops.CATEGORY_DIGIT: r"\d",
    ops.CATEGORY_NOT_DIGIT: r"\D",
    ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S",
    ops.CATEGORY_WORD: r"\w",
    ops.CATEGORY_NOT_WORD: r"\W",
}


def _literals(nodes: Iterable[Any]) -> Iterator[str]:
    for op, value in nodes:
        if op is ops.LITERAL:
            yield chr(value)
        elif op is ops.IN:
            yield from (chr(item) for kind, item in value if kind is ops.LITERAL)
        for part in _parts(op, value):
            yield from _literals(part)


@dataclass(frozen=True)
class Slowness:
    """The steepest growth over the texts that are made against a pattern, None for a pattern without any text,
    and the steps for each character of the text that takes most of them, with bounds of repeats as written.

    Bounds within bounds multiply: such a pattern is linear, and slow all the same. Infinite where a search was
    given up.
    """

    growth: Growth | None
    steps_per_character: float


def measure_slowness(pattern: "re.Pattern[Any]", *, anchored: bool = False) -> Slowness:
    """Search a pattern in the texts that are made against it, up to the first with superlinear growth.

    `anchored` patterns are matched from the start only.
    """
    steepest, costliest, max_ratio = None, None, 0.0
    matcher = CountingMatcher(pattern, narrow=True)
    for make in attacks(pattern):
        text = make(FIRST_REPEATS)
        steps = _count_steps(matcher, anchored, text)
        if costliest is None or steps / len(text) > max_ratio:
            costliest, max_ratio = make, steps / len(text)
        growth = _growth_on(matcher, anchored, make, steps)
        if steepest is None or growth.ratio > steepest.ratio:
            steepest = growth
        if steepest.ratio > SUPERLINEAR:
            break
    if costliest is None:
        return Slowness(steepest, 0.0)
    text = costliest(FIRST_REPEATS * max(1, STEADY_LENGTH // len(costliest(FIRST_REPEATS))))
    matcher = CountingMatcher(pattern, max_operations=MAX_STEPS_PER_CHARACTER * len(text))
    return Slowness(steepest, _count_steps(matcher, anchored, text) / len(text))


def _growth_on(matcher: CountingMatcher, anchored: bool, make: Callable[[int], str], steps: float) -> Growth:
    """Double the number of repeats while the steps more than double: a bounded repeat becomes linear then.

    `steps` are those of the first number of repeats.
    """
    repeats = FIRST_REPEATS
    ratio, earlier_ratio, text = float("inf"), float("inf"), make(repeats)
    while len(text) < MAX_LENGTH and steps < float("inf"):
        repeats *= 2
        text = make(repeats)
        before, steps = steps, _count_steps(matcher, anchored, text)
        if steps == float("inf"):
            # A pattern of many bounded parts takes many steps for each character; its growth falls towards 2.
            ratio = ratio if ratio < earlier_ratio else steps
            break
        earlier_ratio, ratio = ratio, steps / before
        if ratio <= LINEAR:
            break
    return Growth(ratio, len(text), text[:80])


def _count_steps(matcher: CountingMatcher, anchored: bool, text: str) -> float:
    """Steps of the searches of the application: of all matches, or of those at the start of the text.

    Infinite where a search was given up.
    """
    matcher.steps = 0
    try:
        if anchored:
            matcher.match(text)
            matcher.match(text, full=True)
        else:
            for _span in matcher.spans(text):
                pass
    except TooManySteps:
        return float("inf")
    return matcher.steps
