"""Each policy looks at what came back: another answer, another decision."""

from typing import Any

import pytest

from app.agents.data_analyst.offline import decide_analysis, decide_features
from app.agents.data_retrieval import offline as retrieval
from app.agents.model_evaluator.offline import decide_evaluation, decide_tuning
from app.agents.model_trainer import offline as trainer
from app.agents.reporter import offline as reporter

REFUSED = {"refused": "No."}
PLAN = {"target": "y", "tables": ["a"]}
PROBLEM = {"target": "y", "kind": "classification", "horizon": None, "exclude": []}


def fit(name: str, score: float | None, estimator: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "estimator": estimator or name,
        "score": score,
        "metric": "roc_auc",
        "greater_is_better": True,
        "fit_s": 1.0,
        "fold_count": 5,
        **more,
    }


FITS = [fit("baseline", 0.5), fit("LogisticRegression", 0.8), fit("XGBoost", 0.9), fit("RandomForest", 0.85)]
ANALYST = {"problem": PROBLEM, "rows": 1000, "columns": ["x", "y"], "stage": "analysis"}
TRAINER = {"problem": PROBLEM, "rows": 1000, "frame": "features", "time_left_s": 30.0}
EVALUATOR = {"problem": PROBLEM, "fits": FITS, "can_tune": True}
TUNING = {"problem": PROBLEM, "fits": FITS, "chosen": "XGBoost"}


class TestDataRetrieval:
    def test_it_fetches_the_planned_table(self, next_call):
        assert next_call(retrieval.decide, {"plan": PLAN}) == ("fetch_dataset", {"dataset": "a"})

    def test_a_table_that_is_not_there_is_looked_for_among_those_that_are(self, next_call):
        brief = {"plan": {**PLAN, "tables": ["sale"]}}
        refused = ("fetch_dataset", {"dataset": "sale"}, REFUSED)
        assert next_call(retrieval.decide, brief, refused)[0] == "list_datasets"
        listed = {"datasets": [{"table": "sales"}, {"table": "weather"}]}
        assert next_call(retrieval.decide, brief, refused, ("list_datasets", {}, listed)) == (
            "fetch_dataset",
            {"dataset": "sales"},
        )

    @pytest.mark.parametrize(
        ("coins", "expected"),
        [(["ETH", "BTC"], "fetch_price_data"), (["ETH", "SOL"], "ask_user"), ([], "Retrieved")],
    )
    def test_prices_are_fetched_when_there_are_some_of_that_coin(self, next_call, coins, expected):
        brief = {"plan": {"source": "prices", "coin": "BTC", "target": "close"}}
        there = ("get_available_coins", {}, {"coins": [{"coin": coin} for coin in coins]})
        assert next_call(retrieval.decide, brief, there)[0] == expected

    def test_another_coin_than_the_planned_one_is_said(self, next_call):
        brief = {"plan": {"source": "prices", "coin": "BTC", "target": "close"}}
        there = ("get_available_coins", {}, {"coins": [{"coin": "ETH"}, {"coin": "SOL"}]})
        _, question = next_call(retrieval.decide, brief, there)
        assert question["question"].startswith("There are no prices of BTC.")
        answered = ("ask_user", question, {"answer": "ETH"})
        fetched = ("fetch_price_data", {"coin": "ETH"}, {"rows": 9, "columns": [{"name": "close"}]})
        _, output = next_call(retrieval.decide, brief, there, answered, fetched)
        assert output["note"] == "There are no prices of BTC, so these are ETH's."

    def test_tables_without_a_common_key_are_not_joined(self, next_call):
        brief = {"plan": {**PLAN, "tables": ["a", "b"], "join": True}}
        made = {}
        for key in ("a_id", "other"):
            schemas = [
                ("get_dataset_schema", {"dataset": "a"}, _schema("a", "a_id", "y")),
                ("get_dataset_schema", {"dataset": "b"}, _schema("b", key, "z")),
            ]
            made[key] = next_call(retrieval.decide, brief, *schemas)
        assert made["a_id"][0] == "execute_sql"
        assert 'ON t0."a_id" = t1."a_id"' in made["a_id"][1]["sql"]
        assert made["other"] == ("fetch_dataset", {"dataset": "a"})

    def test_a_refused_select_falls_back_to_the_first_table_and_says_so(self, next_call):
        brief = {"plan": {**PLAN, "cut": {"above": True, "value": 3}}}
        refused = ("execute_sql", {"sql": "SELECT", "keep": True}, REFUSED)
        assert next_call(retrieval.decide, brief, refused)[0] == "fetch_dataset"
        fetched = ("fetch_dataset", {"dataset": "a"}, {"frame": "data", "rows": 3, "columns": [{"name": "y"}]})
        name, output = next_call(retrieval.decide, brief, refused, fetched)
        assert (name, output["target"]) == ("Retrieved", "y")
        assert "refused" in output["note"]

    def test_a_cut_makes_a_target_of_its_own(self, next_call):
        brief = {"plan": {**PLAN, "cut": {"above": True, "value": 3}}}
        made = ("execute_sql", {}, {"frame": "data", "row_count": 9, "columns": [{"name": "y_above_3"}]})
        assert next_call(retrieval.decide, brief, made)[1]["target"] == "y_above_3"


class TestDataAnalyst:
    @pytest.mark.parametrize(
        ("certain", "expected"), [(None, "Analysis"), (True, "Analysis"), (False, "ask_user")]
    )
    def test_a_leak_that_is_not_certain_is_asked_about(self, next_call, certain, expected):
        name, arguments = next_call(decide_analysis, ANALYST, ("perform_eda", {}, _eda(certain)))
        assert name == expected
        if name == "Analysis":
            assert arguments["exclude"] == ([] if certain is None else ["boat"])

    @pytest.mark.parametrize(("answer", "left_out"), [("leave them out", ["boat"]), ("keep them", [])])
    def test_the_user_decides_about_it(self, next_call, answer, left_out):
        asked = ("ask_user", {}, {"answer": answer})
        name, output = next_call(decide_analysis, ANALYST, ("perform_eda", {}, _eda(False)), asked)
        assert (name, output["exclude"]) == ("Analysis", left_out)

    @pytest.mark.parametrize(
        ("missing", "relation", "dropped"), [(0.8, 0.5, True), (0.8, 0.7, False), (0.3, 0.5, False)]
    )
    def test_a_column_that_is_hardly_ever_there_is_dropped_unless_it_says_something(
        self, next_call, missing, relation, dropped
    ):
        analysis = {
            "columns": [{"name": "x", "missing": missing, "relation": relation}],
            "suggested_cleaning": [{"op": "mark_missing", "columns": ["x"]}],
        }
        name, arguments = next_call(decide_features, {**ANALYST, "analysis": analysis})
        op = "drop" if dropped else "mark_missing"
        assert (name, arguments["operations"]) == ("clean_data", [{"op": op, "columns": ["x"]}])

    def test_excluded_columns_are_not_cleaned(self, next_call):
        analysis = {"suggested_cleaning": [{"op": "mark_missing", "columns": ["boat"]}]}
        brief = {**ANALYST, "problem": {**PROBLEM, "exclude": ["boat"]}, "analysis": analysis}
        assert next_call(decide_features, brief)[0] == "create_features"

    def test_refused_cleaning_is_left_to_the_data(self, next_call):
        analysis = {"suggested_cleaning": [{"op": "clip", "columns": ["x"]}]}
        tried = ("clean_data", {"operations": analysis["suggested_cleaning"]}, REFUSED)
        name, arguments = next_call(decide_features, {**ANALYST, "analysis": analysis}, tried)
        assert name == "clean_data"
        assert "operations" not in arguments

    @pytest.mark.parametrize(("made", "expected"), [(20, "Prepared"), (390, "create_features")])
    def test_more_columns_than_the_rows_can_bear_make_it_look_back_less(self, next_call, made, expected):
        brief = {**ANALYST, "problem": {**PROBLEM, "horizon": 1}}
        answer = {"frame": "features", "effects": [], "columns": [{}] * made}
        asked = ("create_features", {"frame": "train", "lookback_periods": [1, 2, 3]}, answer)
        name, arguments = next_call(decide_features, brief, asked)
        assert name == expected
        assert arguments.get("lookback_periods", [1]) == [1]

    def test_prices_get_the_indicators_that_their_columns_allow(self, next_call):
        brief = {**ANALYST, "problem": {**PROBLEM, "horizon": 1}, "columns": ["Close", "Volume"]}
        name, arguments = next_call(decide_features, brief)
        assert (name, arguments["close"], arguments["volume"]) == (
            "calculate_technical_indicators",
            "Close",
            "Volume",
        )
        assert "OBV" in arguments["indicators"]
        assert "ATR" not in arguments["indicators"]


class TestModelTrainer:
    def test_little_time_and_many_rows_leave_slow_candidates_out(self, next_call):
        chosen = {}
        for rows, seconds in ((1000, 30.0), (1000, 6.0), (200_000, 30.0)):
            brief = {**TRAINER, "rows": rows, "time_left_s": seconds}
            arguments = next_call(trainer.decide, brief)[1]
            chosen[rows, seconds] = {candidate["estimator"] for candidate in arguments["candidates"]}
        assert chosen[1000, 30.0] > chosen[1000, 6.0]
        assert "RandomForest" not in chosen[200_000, 30.0]
        assert all({"baseline", "LogisticRegression"} <= each for each in chosen.values())

    def test_a_refused_round_is_tried_again_on_the_plain_rows(self, next_call):
        tried = ("train_classification_model", {"frame": "features"}, REFUSED)
        assert next_call(trainer.decide, TRAINER, tried)[1]["frame"] == "train"

    def test_a_round_that_brought_only_the_baseline_gets_one_more(self, next_call):
        only = ("train_classification_model", {"frame": "features"}, {"fits": FITS[:1], "left_out": []})
        name, arguments = next_call(trainer.decide, TRAINER, only)
        assert (name, arguments["candidates"]) == (
            "train_classification_model",
            [{"estimator": "LogisticRegression"}],
        )

    def test_a_candidate_that_failed_is_said_and_left_out(self, next_call):
        left_out = [{"name": "XGBoost", "reason": "It took too long."}]
        came = ("train_classification_model", {"frame": "features"}, {"fits": FITS[:2], "left_out": left_out})
        name, output = next_call(trainer.decide, TRAINER, came)
        assert (name, output["notes"]) == ("Trained", ["XGBoost is left out: It took too long."])


class TestModelEvaluator:
    @pytest.mark.parametrize(
        ("beats", "can_tune", "expected"),
        [
            (True, True, ("Verdict", True)),
            (False, True, ("evaluate_model", None)),
            (True, False, ("evaluate_model", None)),
        ],
    )
    def test_it_tunes_what_beats_the_baseline_while_there_is_time(self, next_call, beats, can_tune, expected):
        compared = ("compare_models", {}, _comparison("XGBoost", beats))
        name, arguments = next_call(decide_evaluation, {**EVALUATOR, "can_tune": can_tune}, compared)
        assert (name, arguments.get("tune")) == expected

    def test_nothing_that_beats_the_baseline_is_said(self, next_call):
        calls = [
            ("compare_models", {}, _comparison("XGBoost", False)),
            ("evaluate_model", {}, {"notes": ["Small."]}),
            ("feature_importance", {}, {"importances": [{"column": "x", "helps": True}]}),
        ]
        name, verdict = next_call(decide_evaluation, EVALUATOR, *calls)
        assert name == "Verdict"
        assert verdict["cautions"][0].startswith("No candidate beats the baseline")

    def test_a_candidate_that_nobody_knows_is_left_out_of_the_comparison(self, next_call):
        refused = {"refused": "There is no model 'XGBoost'. There are: baseline."}
        tried = ("compare_models", {"models": ["baseline", "XGBoost"]}, refused)
        assert next_call(decide_evaluation, EVALUATOR, tried) == ("compare_models", {"models": ["baseline"]})

    @pytest.mark.parametrize(
        ("chosen", "expected"),
        [("XGBoost", ["XGBoost", "RandomForest"]), ("LogisticRegression", ["LogisticRegression"])],
    )
    def test_a_linear_winner_is_tuned_alone(self, next_call, chosen, expected):
        name, arguments = next_call(decide_tuning, {**TUNING, "chosen": chosen})
        assert (name, arguments["models"]) == ("tune_hyperparameters", expected)

    def test_without_time_for_the_best_the_cheapest_is_tuned(self, next_call):
        fits = [*FITS[:1], fit("LogisticRegression", 0.8, fit_s=0.1), *FITS[2:]]
        tried = ("tune_hyperparameters", {"models": ["XGBoost", "RandomForest"]}, REFUSED)
        name, arguments = next_call(decide_tuning, {**TUNING, "fits": fits}, tried)
        assert (name, arguments["models"]) == ("tune_hyperparameters", ["LogisticRegression"])


class TestReporter:
    def test_it_writes_what_it_may_and_says_what_is_missing(self, next_call):
        final = {"beats_baseline": False}
        brief = {"problem": PROBLEM, "chosen": "XGBoost", "final": final, "tools": ["generate_summary"]}
        assert next_call(reporter.decide, brief)[0] == "generate_summary"
        name, output = next_call(reporter.decide, brief, ("generate_summary", {}, REFUSED))
        assert name == "Reported"
        assert "no better than the baseline" in output["headline"]
        assert "Missing: No." in output["headline"]


def _schema(table: str, *names: str) -> dict[str, Any]:
    columns = [
        {"name": name, "type": "integer", "unique": name.endswith("_id"), "distinct": 9} for name in names
    ]
    return {"table": table, "rows": 9, "columns": columns}


def _eda(certain: bool | None) -> dict[str, Any]:
    leak = {"column": "boat", "text": "`boat` is filled for survivors.", "certain": certain}
    return {"findings": [], "leaks": [] if certain is None else [leak]}


def _comparison(chosen: str, beats_baseline: bool) -> dict[str, Any]:
    return {"chosen": chosen, "reason": f"{chosen} is best.", "beats_baseline": beats_baseline}
