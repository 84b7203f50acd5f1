"""Every pattern of the application takes linearly many steps on texts that are made against it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from .attack import MAX_STEPS_PER_CHARACTER, SUPERLINEAR, measure_slowness
from .collect import Source, Unresolved, collect
from .measured import digest, find_other_match, find_slowness, unmeasured

EVERY_PATTERN = 20
"""Step of the patterns whose matches are compared each time, whether they are listed or not."""

RESOLVED_ELSEWHERE = {
    "app.agents.goals.series.axis_detection:_is_part": "alternatives of plain words between two plain ends",
    "app.agents.goals.periods.names:_parse_in_way": "PERIOD_NAMES, which are values",
    "app.agents.questions.phrases:take_any": "phrases of its own language, no regular expressions",
    "app.agents.goals.phrases.costs:_phrase": "its results are values of the module",
    "app.agents.goals.parser:_first_match": "tables of phrases, which are values",
    "app.agents.goals.parser:_strip_metrics": "the same",
    "app.agents.goals.phrases.trading_terms:_amount_pattern": "its results are values of the module",
    "app.api.server.middleware:__init__": "paths of routes, from main",
    "app.computations.bars.raw_bars:read_raw": "notes of ours",
    "app.computations.uploads.column_types:_compiled": "TYPE_RULES, which are values",
    "app.workflows.intent.classification:_find_edits": "lists of verbs and nouns between bounded gaps",
    "app.workflows.intent.classification:_starts_with": "the same",
    "app.workflows.requests.withheld:_replace_embedded": "escaped parts of a secret, two optional letters",
    "app.agents.goals.words.signed_values:is_spelled": "an escaped value between two look-arounds",
    "app.agents.goals.conditions.filters:_is_letter": "the same",
    "app.agents.goals.conditions.scale_bounds:_bounds_of": "escaped steps of a scale beside plain words",
    "app.workflows.conversations.answer_documents:names_table": "an escaped name before a look-around",
    "app.workflows.intent.classification:_adds_beside": "bounded gaps between escaped names",
    "app.workflows.requests.withheld:_replace": "digits between two look-arounds",
    "app.workflows.phrases.node_search:has_type_words": "alternatives of plain words",
    "app.workflows.phrases.node_search:find_nodes": "an escaped name, or a plain word",
    "app.workflows.phrases.schedule_phrases:_read_days": "names of days",
    "app.workflows.phrases.sources:find_dataset": "an escaped name behind verbs, at the beginning of a text",
    "app.tools.conversations.user_words:is_own_answer": "an escaped answer between two look-arounds",
    "app.tools.conversations.user_words:is_own_request": "an escaped address before a look-ahead",
    "app.tools.queries.program_execution:is_mentioned": "an escaped name between two look-arounds",
}


@pytest.fixture(scope="session")
def collected() -> tuple[list[Source], list[Unresolved]]:
    sources, unresolved = collect()
    return list(sources.values()), unresolved


def test_the_patterns_of_all_packages_are_collected(collected: tuple[list[Source], list[Unresolved]]) -> None:
    sources, unresolved = collected
    places = {source.place for source in sources}
    assert len(sources) > 200
    for place in (
        "app.agents.goals.phrases.patterns.POSITIVE",
        "app.agents.assistant.studies.requests.METRIC_PHRASES",
        "app.api.server.middleware._TEXTS",
        "app.cli.scoring.suite._PACKAGE",
        "app.reporting.verification._LINK",
        "app.computations.uploads.keyed_json._MOMENT",
        "app.modeling.type_inference.durations._SPELLED",
    ):
        assert place in places
    assert {one.place for one in unresolved} <= set(RESOLVED_ELSEWHERE)


def test_every_pattern_is_linear_and_fast(collected: tuple[list[Source], list[Unresolved]]) -> None:
    """`python -m tests.unit.patterns.measured` lists those that pass, so that they are not measured again."""
    measured = [(source.place, find_slowness(source)) for source in unmeasured(collected[0])]
    assert [f"{place}: {slowness}" for place, slowness in measured if slowness] == []


def test_planted_bounds_within_bounds_are_seen() -> None:
    assert measure_slowness(re.compile(r"(?:a.{0,300}){0,300}b")).steps_per_character > MAX_STEPS_PER_CHARACTER


def test_the_counting_matcher_finds_the_matches_of_re(
    collected: tuple[list[Source], list[Unresolved]],
) -> None:
    for source in (*unmeasured(collected[0]), *collected[0][::EVERY_PATTERN]):
        assert find_other_match(source) is None, source.place


def test_a_changed_pattern_is_measured_again(collected: tuple[list[Source], list[Unresolved]]) -> None:
    source = collected[0][0]
    for other in (
        replace(source, pattern="a+b"),
        replace(source, flags=source.flags ^ re.IGNORECASE),
        replace(source, anchored=not source.anchored),
    ):
        assert digest(other) != digest(source)
        assert unmeasured([other]) == [other]


@pytest.mark.parametrize(
    "pattern",
    [
        r"[\w-]+ (?:is|as) the positive class",
        r"\bwhether\b[^.]*\brise\b",
        r"fee\s*[:=]?\s*\d",
        r"\w+\s+$",
        r"\[([^\]]*)\]\(",
        r"(\.(csv|gz))+$",
        r'"(?:[^"\\]|\\.)*+"',
    ],
)
def test_a_planted_quadratic_pattern_is_seen(pattern: str) -> None:
    worst = measure_slowness(re.compile(pattern)).growth
    assert worst is not None
    assert worst.ratio > SUPERLINEAR


@pytest.mark.parametrize(
    "pattern", [r"a\s*\w*\s*b\s*\w*\s*c", r"\d*\d*\d*x", r"b.{0,9999}c", r"(?:,\s*)*\w*,\s*\w*;"]
)
def test_a_planted_polynomial_pattern_is_seen(pattern: str) -> None:
    worst = measure_slowness(re.compile(pattern)).growth
    assert worst is not None
    assert worst.ratio > SUPERLINEAR


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(?:a|a)*b", r"(?:\w+\s?)*:", r"^(?:(?:x|y)+z?)+$"])
def test_a_planted_exponential_pattern_is_seen(pattern: str) -> None:
    worst = measure_slowness(re.compile(pattern), anchored=True).growth
    assert worst is not None
    assert worst.ratio > SUPERLINEAR


@pytest.mark.parametrize(
    "pattern", [r"(?<!\w)\w++ is", r"\bto\b[^.]{0,200}\bgo\b", r"a?b", r"[^\s]+", r"\bx\w+"]
)
def test_a_linear_pattern_passes(pattern: str) -> None:
    worst = measure_slowness(re.compile(pattern)).growth
    assert worst is None or worst.ratio <= SUPERLINEAR


def test_a_pattern_in_a_call_is_collected(tmp_path: Path) -> None:
    """Inline patterns count as well, with what their function's own names stand for."""
    import ast
    import types

    from .collect import _of_calls

    path = tmp_path / "planted.py"
    path.write_text(
        "import re\nTABLE = ((r'a+b', 1),)\n"
        "def f(text):\n    for pattern, _ in TABLE:\n        re.search(pattern, text)\n"
        "    end = 'c+'\n    return re.fullmatch(rf'x{end}', text)\n"
    )
    module = types.ModuleType("planted")
    module.__file__ = str(path)
    exec(path.read_text(), vars(module))
    unresolved: list[Unresolved] = []
    sources = list(_of_calls(module, ast.parse(path.read_text()), unresolved))
    assert {(source.pattern, source.anchored) for source in sources} == {("a+b", False), ("xc+", True)}
    assert unresolved == []
