"""Drivers in words: as sure as the held-out rows allow, in units, and never as causes."""

from collections.abc import Callable
from typing import Any

import pytest

from app.recorded_call import RecordedCall
from app.reporting.compose import compose
from app.reporting.document.inline_elements import plain_text
from app.reporting.draft import ReportDraft
from app.reporting.driver_texts import driver_table, effect_sentences, leading_sentence

from .conftest import altered

MakeDraft = Callable[..., ReportDraft]


def effect(column: str, **more: Any) -> dict[str, Any]:
    facts = {"column": column, "with": [], "before": 24, "after": 30, "step": 5.0, "of_class": None}
    sizes = {"value": 43.0, "low": 31.0, "high": 55.0, "size": 43.0, "size_low": 31.0, "size_high": 55.0}
    return {**facts, **sizes, "is_clear": True, **more}


def driver(*columns: str, effects: list[Any], rank: int = 1, grouped_by: str = "single") -> dict[str, Any]:
    facts = {"columns": list(columns), "grouped_by": grouped_by, "rank": rank, "effects": effects}
    return {**facts, "importance": 9.0, "low": 6.0, "high": 12.0}


def with_drivers(
    calls: list[RecordedCall], *drivers: dict[str, Any], leaders: int = 1, is_first_clear: bool = True
) -> list[RecordedCall]:
    facts = {"drivers": list(drivers), "leaders": leaders, "is_first_clear": is_first_clear}
    facts |= {"tested": 10, "rows": 88, "holdout_rows": 88, "repeats": 5}
    return altered(calls, "explain_model", lambda result: result.update(drivers=facts, wants_drivers=True))


@pytest.mark.parametrize(
    ("leaders", "is_first_clear", "expected"),
    [
        (1, True, "target goes most with bmi."),
        (1, False, "target goes with bmi; these rows do not tell if it matters most."),
        (2, False, "target goes most with bmi and bp; these rows do not tell which of them matters more."),
        (
            0,
            False,
            "These data do not show what target goes with: on 88 rows that were not used in training, none of"
            " 10 columns matters by more than chance explains.",
        ),
    ],
)
def test_the_first_sentence_is_as_sure_as_the_rows_allow(
    leaders: int, is_first_clear: bool, expected: str, diabetes: list[RecordedCall], draft: MakeDraft
) -> None:
    drivers = [driver("bmi", effects=[]), driver("bp", effects=[])][: leaders + 1 if leaders else 0]
    calls = with_drivers(diabetes, *drivers, leaders=leaders, is_first_clear=is_first_clear)
    assert plain_text(leading_sentence(draft(calls))) == expected


@pytest.mark.parametrize(("is_asked", "title"), [(True, "What target goes with"), (False, "Predicting target")])
def test_the_title_says_what_was_asked(
    is_asked: bool, title: str, diabetes: list[RecordedCall], draft: MakeDraft
) -> None:
    calls = altered(diabetes, "explain_model", lambda result: result.update(wants_drivers=is_asked))
    assert plain_text(compose(draft(calls)).title) == title


def test_drivers_that_only_their_effects_show_are_named(diabetes: list[RecordedCall], draft: MakeDraft) -> None:
    calls = with_drivers(diabetes, driver("bmi", effects=[]), driver("bp", effects=[]), leaders=0)
    assert plain_text(leading_sentence(draft(calls))) == (
        "target goes with bmi and bp; these rows do not tell what matters most."
    )


@pytest.mark.parametrize("low", [6.0, -1.0, None])
def test_the_caption_says_why_an_uncertain_importance_is_listed(
    low: float | None, diabetes: list[RecordedCall], draft: MakeDraft
) -> None:
    table = driver_table(draft(with_drivers(diabetes, driver("bmi", effects=[]) | {"low": low})))
    assert table is not None
    assert ("listed for its effect" in table.caption) == (low != 6.0)


@pytest.mark.parametrize(
    ("before", "after", "span"),
    [
        (1924.0, 1986.0, "1924 and 1986"),
        (1924.0, 4986.0, "1,924 and 4,986"),
        (1924.5, 1986.5, "1,924 and 1,986"),
    ],
)
def test_numbers_that_may_be_years_have_no_separators(
    before: float, after: float, span: str, diabetes: list[RecordedCall], draft: MakeDraft
) -> None:
    calls = with_drivers(diabetes, driver("built", effects=[effect("built", before=before, after=after)]))
    assert f"(between {span})" in plain_text(effect_sentences(draft(calls))[0])


def test_rows_that_were_left_out_are_told(diabetes: list[RecordedCall], draft: MakeDraft) -> None:
    calls = with_drivers(diabetes, leaders=0)
    cut = altered(calls, "explain_model", lambda result: result["drivers"].update(rows=40))
    few = altered(calls, "explain_model", lambda result: result["drivers"].update(has_enough_rows=False))
    for shuffled, rows in ((cut, 40), (few, 88)):
        assert plain_text(leading_sentence(draft(shuffled))) == (
            f"What target goes with was not tested with enough rows: on {rows} of the 88 that were not used in"
            " training."
        )


def test_a_single_column_is_not_counted(diabetes: list[RecordedCall], draft: MakeDraft) -> None:
    calls = with_drivers(diabetes, leaders=0)
    single = altered(calls, "explain_model", lambda result: result["drivers"].update(tested=1))
    assert plain_text(leading_sentence(draft(single))) == (
        "These data do not show what target goes with: on 88 rows that were not used in training, the only"
        " column does not matter by more than chance explains."
    )


def test_earlier_values_of_the_target_are_called_so(diabetes: list[RecordedCall], draft: MakeDraft) -> None:
    calls = with_drivers(diabetes, driver("target", effects=[], grouped_by="lags"))
    assert plain_text(leading_sentence(draft(calls))) == "target goes most with its own earlier values."


def test_a_text_is_named_with_what_its_words_tell(diabetes: list[RecordedCall], draft: MakeDraft) -> None:
    calls = with_drivers(diabetes, driver("sex", "name", effects=[], grouped_by="words"))
    assert plain_text(leading_sentence(draft(calls))) == (
        "target goes most with sex and name (the words of name tell sex)."
    )


def test_effects_are_told_in_units_with_their_intervals(diabetes: list[RecordedCall], draft: MakeDraft) -> None:
    fall = {"value": -4.8, "low": -7.5, "high": -2.2, "size": 4.8, "size_low": 2.2, "size_high": 7.5}
    unclear = effect("s1", low=-3.0, is_clear=False)
    equal = effect("site", low=-3.0, is_clear=False, before="a", after="b", step=None)
    plans = effect("plan", before="basic", after="pro", step=None)
    calls = with_drivers(
        diabetes,
        driver("bmi", effects=[effect("bmi")]),
        driver("s5", "s4", effects=[effect("s5", **fall, **{"with": ["s4"]})], grouped_by="correlated"),
        driver("plan", effects=[plans], rank=3),
        driver("s1", effects=[unclear], rank=4),
        driver("notes", effects=[], rank=5),
        driver("site", effects=[equal], rank=6),
    )
    assert [plain_text(text) for text in effect_sentences(draft(calls))] == [
        "5 more bmi (between 24 and 30) goes with 43 (31 to 55) more target.",
        "5 more s5, and s4 along with it, (between 24 and 30) goes with 4.8 (2.2 to 7.5) less target.",
        "plan pro instead of basic goes with 43 (31 to 55) more target.",
        "Between 24 and 30 of s1 these rows show no rise or fall of target.",
        "For site these rows show no difference between two values.",
    ]
    table = driver_table(draft(calls))
    assert table is not None
    assert [plain_text(row[0]) for row in table.rows] == ["bmi", "s5 and s4", "plan", "s1", "notes", "site"]


def test_years_have_no_separators(diabetes: list[RecordedCall], draft: MakeDraft) -> None:
    year = effect("year_built", before=1954, after=2000, step=20.0)
    [sentence] = effect_sentences(draft(with_drivers(diabetes, driver("year_built", effects=[year]))))
    assert "(between 1954 and 2000)" in plain_text(sentence)


def test_effects_on_a_class_are_percentage_points(titanic: list[RecordedCall], draft: MakeDraft) -> None:
    sizes = {"value": -0.042, "low": -0.06, "high": -0.024, "size": 0.042, "size_low": 0.024, "size_high": 0.06}
    age = effect("age", of_class="yes", step=10.0, **sizes)
    [sentence] = effect_sentences(draft(with_drivers(titanic, driver("age", effects=[age]))))
    assert plain_text(sentence).endswith("that is 4.2 (2.4 to 6) percentage points lower.")
    assert "cause" not in plain_text(sentence)
