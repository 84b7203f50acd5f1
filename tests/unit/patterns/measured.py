"""Measure of each pattern, and the list of those that passed it: `make test` measures what the list has not.

    python -m tests.unit.patterns.measured      measure all patterns, and list those that pass

Steps are counted, not timed: what has once passed passes again until the pattern, the way it is read, the
measure or Python changes, and a digest is of all these. With LABCREW_PATTERNS=all, as in `make fuzz`, all are
measured.
"""

import os
import re
import sys
from collections.abc import Iterable
from hashlib import sha256
from multiprocessing import Pool
from pathlib import Path

from .attack import MAX_STEPS_PER_CHARACTER, SUPERLINEAR, attacks, measure_slowness
from .collect import Source, collect
from .steps import CountingMatcher

LIST = Path(__file__).with_name("measured.txt")
MEASURE = sha256(b"".join(LIST.with_name(name).read_bytes() for name in ("attack.py", "steps.py"))).hexdigest()

ANCHORED = {
    "app.computations.uploads.column_types": "read by fullmatch, or by DuckDB, which is linear",
    "app.computations.uploads.cell_sql": "read by DuckDB, which is linear",
    "app.modeling.type_inference.date_format.SPELLINGS": "every one begins with ^",
    "app.modeling.type_inference.number_spellings": "parts of patterns that are matched in full",
    "app.modeling.analysis.redundancy._CODE": "only pandas' str.fullmatch reads it",
}
"""Patterns of other engines, or that no search begins anew at each character."""

OF_PROGRAMS = {
    "app.sandbox.policy.names.text_guards._QUOTED": "an expression of a program, read within its cell's limit",
}
"""Patterns that read the text of a program in that program's own cell: nobody else waits for them."""


def is_of_other_engine(source: Source) -> bool:
    return bool({source.place, source.place.rpartition(".")[0]} & set(ANCHORED))


def digest(source: Source) -> str:
    """Identify a measurement: 16 hexadecimal digits."""
    reader = (source.anchored, is_of_other_engine(source), source.place in OF_PROGRAMS)
    read = (source.pattern, int(source.flags), *reader, MEASURE, *sys.version_info[:2])
    return sha256(repr(read).encode()).hexdigest()[:16]


def unmeasured(sources: Iterable[Source]) -> list[Source]:
    """Sources that the list does not have."""
    excluded = set() if os.environ.get("LABCREW_PATTERNS") == "all" else set(LIST.read_text().split())
    return [source for source in sources if digest(source) not in excluded]


def find_slowness(source: Source) -> str | None:
    """Measure a pattern; return why it is refused, None where it is linear and fast."""
    if source.place in OF_PROGRAMS:
        return None
    is_of_other = is_of_other_engine(source)
    pattern = re.compile(source.pattern, source.flags)
    slowness = measure_slowness(pattern, anchored=source.anchored or is_of_other)
    growth = slowness.growth
    if growth and growth.ratio > SUPERLINEAR:
        return (
            f"steps x {growth.ratio:.1f} at double length of {growth.text!r}: "
            "bound its repeats, or make them possessive"
        )
    if slowness.steps_per_character > MAX_STEPS_PER_CHARACTER and not is_of_other:
        return f"{slowness.steps_per_character:.0f} steps a character: put no bound within a bound"
    return None


def find_other_match(source: Source) -> str | None:
    """Return a text in which the counting matcher finds other matches than `re`, None where there is none.

    Its counts mean something only if it searches as `re` does.
    """
    pattern = re.compile(source.pattern, source.flags)
    matcher = CountingMatcher(pattern)
    for make in attacks(pattern)[::13]:
        text = make(6)
        if isinstance(source.pattern, bytes):
            data = text.encode("utf-8", "ignore")
            spans, text = [match.span() for match in pattern.finditer(data)], data.decode("latin-1")
        else:
            spans = [match.span() for match in pattern.finditer(text)]
        if list(matcher.spans(text)) != spans:
            return text
    return None


def _passing_digest(source: Source) -> str:
    return "" if find_slowness(source) or find_other_match(source) else digest(source)


def main() -> None:
    sources = list(collect()[0].values())
    with Pool() as pool:
        passing = set(pool.imap_unordered(_passing_digest, sources)) - {""}
    LIST.write_text("".join(f"{line}\n" for line in sorted(passing)))


if __name__ == "__main__":
    main()
