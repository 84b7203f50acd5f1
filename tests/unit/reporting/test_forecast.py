"""The section of what comes next: forecasts of numbers with bounds, of a direction as a probability."""

import re
from dataclasses import replace
from typing import Any

import pytest

from app.recorded_call import RecordedCall
from app.reporting import html, markdown
from app.reporting.compose import compose
from app.reporting.document.inline_elements import plain_text
from app.reporting.driver_texts import leading_sentence
from app.reporting.pages.answer import headline
from app.reporting.pages.forecasts import answer_by_forecast, forecast_table
from app.reporting.pages.row_nouns import row_noun
from app.reporting.results import summarise
from app.reporting.verification import verify_report

from .conftest import altered, make_draft

MOMENTS = ("2026-01-01T00:00:00", "2026-01-02T00:00:00")


def facts(**said: Any) -> dict[str, Any]:
    forecasts = [
        {"shop": "north", "day": day, "rows_ahead": step, **said} for step, day in enumerate(MOMENTS, 1)
    ]
    return {
        "rows": 2,
        "series": 1,
        "horizon": 2,
        "first": MOMENTS[0],
        "last": MOMENTS[1],
        "level": 0.9,
        "time_column": "day",
        "group_column": "shop",
        "forecasts": forecasts,
        "figures": [],
        "model": "Ensemble on all rows",
    }


def told(calls: list[RecordedCall], value: dict[str, Any]) -> str:
    """The report with this forecast, once it has passed its own check."""
    last = next(call for call in reversed(calls) if call.tool == "final_evaluation")
    call = replace(last, key="tool:0.4", tool="forecast_future", result=value)
    place = calls.index(last) + 1
    draft = make_draft([*calls[:place], call, *calls[place:]])
    report = compose(draft)
    text = markdown.render(report.lay_out())
    verdict = verify_report(report.to_json(), draft.calls, markdown=text)
    assert verdict.passes, verdict.mismatches
    return re.sub(r"\[([^\]]*)\]\(#[^)]*\)", r"\1", text).replace("\\", "")


@pytest.mark.parametrize(
    ("said", "row"),
    [
        ({"prediction": 12.345, "low": 10.0, "high": 15.5}, "| north | 2026-01-02 | 2 | 12.3 | 10 | 15.5 |"),
        ({"prediction": 1, "probabilities": {"0": 0.4, "1": 0.6}}, "| north | 2026-01-02 | 2 | 60.0% |"),
    ],
)
def test_forecasts_after_the_last_row_are_in_the_report(titanic, said, row):
    text = told(titanic, facts(**said))
    assert "From 2026-01-01 to 2026-01-02, after the last row: 2 forecasts" in text
    assert row in text


@pytest.mark.parametrize(
    ("outlook", "quantity"),
    [("volatility", "The volatility of target"), ("change", "The change of target"), (None, "target")],
)
def test_the_answer_names_the_quantity_that_is_forecast(diabetes, outlook, quantity):
    calls = [
        replace(call, result={**call.result, "problem": {**call.result["problem"], "outlook": outlook}})
        if call.tool == "lock_holdout"
        else call
        for call in diabetes
    ]
    last = next(call for call in reversed(calls) if call.tool == "final_evaluation")
    forecast = replace(
        last, key="tool:0.4", tool="forecast_future", result=facts(prediction=0.065, low=0.039, high=0.099)
    )
    answer = answer_by_forecast(make_draft([*calls, forecast]))
    assert answer is not None
    assert plain_text(answer.text).startswith(f"{quantity} of north ")


@pytest.mark.parametrize(
    ("low", "callout"), [(-0.1, "one of those may do as well"), (0.1, "the baseline by more")]
)
def test_the_summary_names_the_best_forecast_without_a_model(diabetes, low, callout):
    gain = {"value": 0.2, "low": low, "high": 0.3}
    best = {"name": "weighted average", "score": 56.5, "difference": gain}
    judged = {"references": [best], "beats_baseline": True, "agrees_with_cv": None}
    calls = [
        replace(call, result={**call.result, **judged}) if call.tool == "final_evaluation" else call
        for call in diabetes
    ]
    text = told(calls, {**facts(prediction=1.0), "rows": 0, "forecasts": []})
    assert "the weighted average 56.5." in text
    assert callout in text
    assert ("Look at the weighted average beside the model" in text) == (low <= 0)


DAYS = [f"2026-01-{day:02}T00:00:00" for day in range(1, 15)]


def test_all_series_and_periods_of_two_weeks_are_told(diabetes):
    forecasts = [
        {"shop": shop, "day": day, "rows_ahead": step, "prediction": 12.345 * step, "low": 10.0, "high": 41.5}
        for shop in ("north", "south", "harbour")
        for step, day in enumerate(DAYS, 1)
    ]
    value = {**facts(prediction=1.0), "rows": 42, "series": 3, "last": DAYS[-1], "forecasts": forecasts}
    calls = with_forecast(diabetes, value)
    statement = answer_by_forecast(make_draft(calls))
    assert statement is not None
    assert plain_text(statement.text).endswith("The table has all 3 series.")
    places = {(plain_text(figure.series), figure.time and figure.time.text) for figure in statement.figures}
    assert len(places) == 42
    assert ("harbour", "14 January 2026") in places
    [table] = forecast_table(make_draft(calls))
    assert len(table.rows) == 14


@pytest.mark.parametrize(("is_model", "high"), [(True, 0.82), (True, 0.95), (False, 0.82)])
def test_intervals_that_held_too_little_are_told_beside_them(diabetes, is_model, high):
    coverage = {"value": 0.78, "low": 0.7, "high": high}
    judged = {
        "intervals": {"level": 0.9, "coverage": coverage, "width": 3.0},
        "recommended": {"name": "Ridge" if is_model else "best classical methods", "is_model": is_model},
    }
    calls = altered(diabetes, "final_evaluation", lambda result: result.update(judged))
    text = plain_text(headline(make_draft(with_forecast(calls, facts(prediction=1.0)))))
    is_told = "made to hold 90% of the rows, and held 78% of the hold-out" in text
    assert is_told == (is_model and high < 0.9)
    result = {"rows": 442, "fits": 1, "fit_s": 0.1, "model": "Ridge on all rows", "widening": 1.4}
    final = next(call for call in calls if call.tool == "final_evaluation")
    refit = replace(final, key="tool:0.2", tool="refit_model", result=result)
    text = plain_text(headline(make_draft(with_forecast([*calls, refit], facts(prediction=1.0)))))
    assert ("wider here than those, by a factor of 1.4" in text) == is_told


def by_methods(result: dict[str, Any], low: float = 40.0) -> None:
    """Let the classical methods make the forecast, with a hold-out score of their own."""
    score = {"value": 50.0, "low": 45.0, "high": 56.0}
    result["recommended"] = {"name": "best classical methods", "is_model": False}
    result["methods"] = {
        "on": "hold-out",
        "rows": 88,
        "metrics": {"rmse": score, "mae": {**score, "value": 41.0}},
        "interval_method": "95% percentile bootstrap",
        "baseline": {"rmse": 90.0, "mae": 77.0},
        "beats_baseline": low > 0,
        "baseline_difference": {"value": 40.0, "low": low, "high": 45.0},
        "intervals": {"level": 0.9, "coverage": {"value": 0.7, "low": 0.6, "high": 0.8}, "width": 3.0},
        "notes": [],
    }


@pytest.mark.parametrize("delivered", ["Classical methods beside Ridge on all rows", None])
def test_methods_that_forecast_continue_later_rows_where_the_model_holds_them(diabetes, delivered):
    recommended = {"recommended": {"name": "best classical methods", "is_model": False}}
    calls = altered(diabetes, "final_evaluation", lambda result: result.update(recommended))
    forecast = facts(prediction=1.0) | ({"delivered": delivered} if delivered else {})
    draft = make_draft(with_forecast(calls, forecast))
    text = told(calls, forecast)
    assert "None of these candidates makes the forecast: the best classical methods do" in text
    assert ("predict endpoint: it continues each series" in text) == (delivered is not None)
    assert summarise(draft.calls, [])["forecaster"] == "best classical methods"


def test_the_scores_of_a_forecast_are_those_of_the_methods_that_make_it(diabetes):
    calls = with_forecast(altered(diabetes, "final_evaluation", by_methods), facts(prediction=1.0))
    result, text = summarise(calls, []), told(calls, facts(prediction=1.0))
    assert result["holdout"] | {"value": 50.0, "low": 45.0, "high": 56.0, "baseline": 90.0} == result["holdout"]
    assert result["metrics"]["mae"]["value"] == 41.0
    assert "typically wrong by 41" in text
    assert "Assuming no change would be wrong by 77" in text
    assert "The best classical methods make the forecast: their RMSE is 50" in text
    assert (
        "Scores are those of the best classical methods, which make the forecast; the RMSE of the model" in text
    )
    assert "held 70% of the hold-out: they are measured again here, with these rows." in text
    assert "They are not better than assuming no change" not in text


def test_methods_that_are_no_better_than_no_change_are_said_to_be_so(diabetes):
    calls = altered(diabetes, "final_evaluation", lambda result: by_methods(result, low=-1.0))
    text = told(with_forecast(calls, facts(prediction=1.0)), facts(prediction=1.0))
    assert "They are not better than assuming no change by more than chance explains." in text
    assert "Do not rely on this forecast more than on the value of today" in text
    assert "Do not use this model" not in text


def test_the_answer_has_a_column_for_each_series(diabetes):
    forecasts = [
        {"shop": shop, "day": day, "rows_ahead": step, "prediction": 12.345 * step, "low": 10.0, "high": 41.5}
        for shop in ("north", "south")
        for step, day in enumerate(MOMENTS, 1)
    ]
    text = told(diabetes, {**facts(prediction=1.0), "rows": 4, "series": 2, "forecasts": forecasts})
    assert "| Period | north | south |" in text
    assert "| 2 January 2026 | 24.7 (10 to 41.5) | 24.7 (10 to 41.5) |" in text
    assert "target of north on 1 January 2026: 12.3 (10 to 41.5); on 2 January 2026: 24.7 (10 to 41.5)." in text


@pytest.mark.parametrize(
    ("months", "period"), [(1, "in January 2026"), (3, "in quarter 1 of 2026"), (12, "in 2026")]
)
def test_a_single_period_is_named_by_the_distance_of_its_series(diabetes, months, period):
    single = {"day": MOMENTS[0], "rows_ahead": 1, "prediction": 1240, "low": 1100, "high": 1390}
    value = {**facts(), "rows": 1, "group_column": None, "months_apart": months, "forecasts": [single]}
    assert f"target {period}: 1,240 (1,100 to 1,390)." in told(diabetes, value)


def test_the_report_of_a_forecast_is_titled_as_one(diabetes):
    last = next(call for call in reversed(diabetes) if call.tool == "final_evaluation")
    forecast = replace(last, key="tool:0.4", tool="forecast_future", result=facts(prediction=1.0))
    assert plain_text(compose(make_draft([*diabetes, forecast])).title).startswith("Forecasting ")
    assert plain_text(compose(make_draft(diabetes)).title).startswith("Predicting ")


@pytest.mark.parametrize(
    ("tested", "wants_drivers", "is_told"), [(1, False, False), (1, True, True), (2, False, True)]
)
def test_a_forecast_by_its_times_alone_speaks_of_no_drivers(diabetes, tested, wants_drivers, is_told):
    drivers = {"drivers": [], "leaders": 0, "tested": tested, "rows": 88, "holdout_rows": 88, "repeats": 5}
    calls = altered(
        diabetes,
        "explain_model",
        lambda result: result.update(drivers={**drivers, "is_first_clear": False}, wants_drivers=wants_drivers),
    )
    last = next(call for call in reversed(calls) if call.tool == "final_evaluation")
    forecast = replace(last, key="tool:0.4", tool="forecast_future", result=facts(prediction=1.0))
    sentence = plain_text(leading_sentence(make_draft([*calls, forecast])))
    assert bool(sentence) == is_told


@pytest.mark.parametrize(
    ("target", "answer", "beginning"),
    [
        ("number of rows", "each_period", "The number of rows of north on"),
        ("number of rows", "sum", "Total number of rows of north, "),
        ("total price", "sum", "The total price of north, "),
        ("price", "sum", "Total price of north, "),
    ],
)
def test_the_answer_begins_with_a_word_of_its_own(diabetes, target, answer, beginning):
    calls = altered(diabetes, "lock_holdout", lambda result: result["problem"].update(target=target))
    last = next(call for call in reversed(calls) if call.tool == "final_evaluation")
    entry = {"group": "north", "first": MOMENTS[0], "last": MOMENTS[1], "value": 3.0, "low": 2.0, "high": 4.0}
    answers = [entry] if answer == "sum" else []
    value = {**facts(prediction=1.0), "answer": answer, "answers": answers}
    forecast = replace(last, key="tool:0.4", tool="forecast_future", result=value)
    statement = answer_by_forecast(make_draft([*calls, forecast]))
    assert statement is not None
    assert plain_text(statement.text).startswith(beginning)


def with_forecast(calls: list[RecordedCall], value: dict[str, Any]) -> list[RecordedCall]:
    last = next(call for call in reversed(calls) if call.tool == "final_evaluation")
    return [*calls, replace(last, key="tool:0.4", tool="forecast_future", result=value)]


def test_the_table_begins_with_the_periods_that_are_asked_for(diabetes):
    entry = {"group": "north", "first": MOMENTS[1], "last": MOMENTS[1], "value": 3.0, "low": 2.0, "high": 4.0}
    value = {**facts(prediction=1.0), "answer": "sum"}
    [whole] = forecast_table(make_draft(with_forecast(diabetes, {**value, "answers": []})))
    [asked] = forecast_table(make_draft(with_forecast(diabetes, {**value, "answers": [entry]})))
    assert (len(whole.rows), len(asked.rows)) == (2, 1)


def test_rows_of_a_forecast_are_called_forecasts(titanic):
    assert plain_text(row_noun(make_draft(titanic))) != "forecasts"
    assert plain_text(row_noun(make_draft(with_forecast(titanic, facts(prediction=1.0))))) == "forecasts"


def test_a_table_of_the_first_forecasts_links_to_the_file_of_all(diabetes):
    days = [f"2026-{month:02}-{day:02}T00:00:00" for month in (1, 2) for day in range(1, 29)]
    forecasts = [
        {"shop": "north", "day": day, "rows_ahead": step, "prediction": 1.0} for step, day in enumerate(days, 1)
    ]
    value = {**facts(prediction=1.0), "forecasts": forecasts, "last": days[-1], "answers": []}
    calls = with_forecast(diabetes, value)
    document = compose(make_draft(calls)).lay_out()
    assert "*The first forecasts; [forecasts.csv](forecasts.csv) has all*" in markdown.render(document)
    assert 'The first forecasts; <a href="forecasts.csv">forecasts.csv</a> has all' in html.render(document, {})


def _totals() -> dict[str, Any]:
    ends = {"first": MOMENTS[0], "last": MOMENTS[1]}
    answers = [
        {"group": "south", "value": 30.0, "low": 26.0, "high": 34.0, **ends},
        {"group": "north", "value": 24.0, "low": 20.0, "high": 28.0, **ends},
    ]
    forecasts = [
        {"shop": shop, "day": day, "rows_ahead": step, "prediction": 12.0, "low": 10.0, "high": 14.0}
        for shop in ("north", "south")
        for step, day in enumerate(MOMENTS, 1)
    ]
    value = {**facts(prediction=1.0), "rows": 4, "series": 2, "forecasts": forecasts, "answer": "sum"}
    return {**value, "ranking": "most", "answers": answers}


def test_the_first_of_several_series_is_named_with_its_figure(diabetes):
    text = told(diabetes, _totals())
    assert "south is forecast to have the highest total target, 1 January 2026 to 2 January 2026: 30 " in text
    assert "Next is north with 24 (20 to 28). The two intervals overlap, so which of the two is first" in text
    assert "| south | 30 | 26 | 34 |" in text


def test_the_periods_beyond_a_number_are_counted_and_named(diabetes):
    value = facts(low=10.0, high=14.0)
    for entry, prediction in zip(value["forecasts"], (13.0, 11.0), strict=True):
        entry |= {"prediction": prediction, "meets_bound": prediction > 12}
    counts = {"group": None, "periods": 2, "met": 1, "certain": 0, "excluded": 0}
    counts |= {"first": MOMENTS[0], "last": MOMENTS[1]}
    bound = {"bound": {"sign": ">", "value": 12}, "comparisons": [counts], "group_column": None}
    text = told(diabetes, {**value, **bound})
    assert "target is forecast above 12 on 1 of 2 days, 1 January 2026 to 2 January 2026." in text
    assert "It is so on 1 January 2026." in text
    assert "| 1 January 2026 | 13 | 10 | 14 | yes |" in text
    assert "The whole interval of the forecast meets the bound in 0 of these periods" in text
