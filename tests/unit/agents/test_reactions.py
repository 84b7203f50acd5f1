"""Each policy looks at what came back: another answer, another decision."""

from typing import Any

import pytest

from app.agents.data_analyst.offline_rules import decide_analysis, decide_features
from app.agents.data_retrieval import offline_rules as retrieval
from app.agents.model_evaluator.offline_rules import decide_evaluation, decide_tuning
from app.agents.model_trainer import offline_rules as trainer
from app.agents.reporter import offline_rules as reporter

REFUSED = {"refused": "No."}
PLAN = {"target": "y", "tables": ["a"]}
PROBLEM = {"target": "y", "kind": "classification", "metric": "roc_auc", "horizon": None, "exclude": []}
FOLDS = {"kind": "stratified", "count": 5, "seed": 0}
COMMON = {
    "goal": "Predict y",
    "problem": PROBLEM,
    "rows": 1000,
    "split": {"kind": "stratified", "reason": "Classes keep their shares."},
    "families": [],
    "preferences": {},
    "model": "ensemble",
}


def fit(name: str, score: float | None, estimator: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "estimator": estimator or name,
        "score": score,
        "metric": "roc_auc",
        "greater_is_better": True,
        "fit_s": 1.0,
        "fold_count": 1,
        "run": [0],
        "folds": FOLDS,
        **more,
    }


FITS = [fit("baseline", 0.5), fit("LogisticRegression", 0.8), fit("XGBoost", 0.9), fit("RandomForest", 0.85)]
COLUMNS = [{"name": "x", "type": "number"}, {"name": "y", "type": "category"}]
EXPLORER = {
    **COMMON,
    "columns": [*COLUMNS, {"name": "z", "type": "number"}],
    "frame": "train",
    "stage": "analysis",
}
ANALYST = {**COMMON, "columns": ["x", "y"], "stage": "features"}
TRAINER = {
    **COMMON,
    "column_count": 12,
    "frame": "features",
    "folds": FOLDS,
    "time_left_s": 30.0,
    "hands": 2,
}
EVALUATOR = {
    **COMMON,
    "fits": FITS,
    "weights": {},
    "blended": False,
    "folds": FOLDS,
    "can_tune": True,
    "time_left_s": 20.0,
    "worked_s": 8.0,
    "hands": 2,
    "rounds": 0,
}

RELATED = {
    "base": "a",
    "rows": 3,
    "sql": None,
    "joins": [],
    "appended": [],
    "to_predict": [],
    "left_out": [{"table": "b", "reason": "it shares no column with `a`"}],
}


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
        brief = {"plan": {"source": "prices", "coins": ["BTC"], "target": "close"}}
        there = ("get_available_coins", {}, {"coins": [{"coin": coin} for coin in coins]})
        assert next_call(retrieval.decide, brief, there)[0] == expected

    def test_another_coin_than_the_planned_one_is_said(self, next_call):
        brief = {"plan": {"source": "prices", "coins": ["BTC"], "target": "close"}}
        there = ("get_available_coins", {}, {"coins": [{"coin": "ETH"}, {"coin": "SOL"}]})
        _, question = next_call(retrieval.decide, brief, there)
        assert question["question"].startswith("There are no stored prices of BTC.")
        answered = ("ask_user", question, {"answer": "ETH"})
        fetched = ("fetch_price_data", {"coins": ["ETH"]}, {"rows": 9, "columns": [{"name": "close"}]})
        _, output = next_call(retrieval.decide, brief, there, answered, fetched)
        assert output["note"] == "There are no stored prices of BTC. Prices of ETH are used instead."

    def test_several_coins_are_fetched_as_the_plan_says(self, next_call):
        brief = {
            "plan": {
                "source": "prices",
                "coins": ["btc", "ETH", "XRP"],
                "interval": "1h",
                "start": "2024-01-01",
                "target": "close",
            }
        }
        there = {"coins": [{"coin": "BTC/USDT"}, {"coin": "ETH"}, {"coin": "ETH"}]}
        listed = ("get_available_coins", {}, there)
        wanted = {"coins": ["BTC/USDT", "ETH"], "start": "2024-01-01", "interval": "1h"}
        assert next_call(retrieval.decide, brief, listed) == ("fetch_price_data", wanted)
        fetched = ("fetch_price_data", wanted, {"rows": 9, "columns": [{"name": "close"}]})
        _, output = next_call(retrieval.decide, brief, listed, fetched)
        assert (
            output["note"] == "There are no stored prices of XRP. Prices of BTC/USDT and ETH are used instead."
        )

    def test_tables_without_a_common_key_are_not_joined(self, next_call):
        brief = {"plan": {**PLAN, "tables": ["a", "b"], "join": True}}
        assert next_call(retrieval.decide, brief) == (
            "relate_tables",
            {"base": "a", "target": "y", "tables": ["b"]},
        )
        made = {}
        for select in ("SELECT 1", None):
            related = ("relate_tables", {}, {**RELATED, "sql": select})
            made[select] = next_call(retrieval.decide, brief, related)
        assert made["SELECT 1"] == ("execute_sql", {"sql": "SELECT 1", "keep": True})
        assert made[None] == ("fetch_dataset", {"dataset": "a"})
        fetched = ("fetch_dataset", {"dataset": "a"}, {"frame": "data", "rows": 3, "columns": [{"name": "y"}]})
        _, output = next_call(retrieval.decide, brief, ("relate_tables", {}, RELATED), fetched)
        assert output["note"] == "`b` is left out: it shares no column with `a`."

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
        name, arguments = next_call(decide_analysis, EXPLORER, ("perform_eda", {}, _eda(certain)))
        assert name == expected
        if name == "Analysis":
            assert arguments["exclude"] == ([] if certain is None else ["boat"])

    def test_the_last_inputs_are_never_left_out(self, next_call):
        only = {**EXPLORER, "columns": [{"name": "boat"}, {"name": COMMON["problem"]["target"]}]}
        name, output = next_call(decide_analysis, only, ("perform_eda", {}, _eda(True)))
        assert (name, output["exclude"]) == ("Analysis", [])
        assert "no input is left to learn from" in output["notes"][0]

    @pytest.mark.parametrize(("answer", "left_out"), [("leave them out", ["boat"]), ("keep them", [])])
    def test_the_user_decides_about_it(self, next_call, answer, left_out):
        asked = ("ask_user", {}, {"answer": answer})
        name, output = next_call(decide_analysis, EXPLORER, ("perform_eda", {}, _eda(False)), asked)
        assert (name, output["exclude"]) == ("Analysis", left_out)

    @pytest.mark.parametrize(
        ("side", "answer", "reason"),
        [
            ("otherwise", None, "Each row has a value of its own. `x` is left out."),
            ("otherwise", "leave them out", "Each row has a value of its own. `x` is left out."),
            ("holds", "leave them out", "I leave out `x`, as you answered."),
        ],
    )
    def test_a_column_is_left_out_with_its_reason(self, next_message, side, answer, reason):
        choice = "left out" if side == "otherwise" else "an input"
        measured = {
            "kind": "column",
            "columns": ["x"],
            "matters": answer is not None,
            "chosen": side,
            "why": f"Each row has a value of its own. `x` is {choice}.",
            "options": {"otherwise": "leave them out", "holds": "keep them"},
        }
        asked = [("ask_user", {}, {"answer": answer})] if answer else []
        explored = ("perform_eda", {}, {"assumptions": [measured]})
        message = next_message(decide_analysis, EXPLORER, explored, *asked)
        output = message.tool_calls[0]["args"]
        assert (output["exclude"], output["notes"], message.text) == (["x"], [reason], reason)

    @pytest.mark.parametrize(
        ("missing", "relation", "dropped"), [(0.99, 0.5, True), (0.99, 0.7, False), (0.8, 0.5, False)]
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
        answer = {"frame": "features", "effects": [], "columns": [{"name": "x"}] * made}
        asked = ("create_features", {"frame": "train", "lookback_periods": [1, 2, 3]}, answer)
        name, arguments = next_call(decide_features, brief, asked)
        assert name == expected
        assert arguments.get("lookback_periods", [1]) == [1]

    def test_prices_get_the_indicators_that_their_columns_allow(self, next_call):
        market = {**PROBLEM, "target": "Close", "horizon": 1}
        brief = {**ANALYST, "problem": market, "columns": ["Close", "Volume"]}
        name, arguments = next_call(decide_features, brief)
        assert (name, arguments["close"], arguments["volume"]) == (
            "calculate_technical_indicators",
            "Close",
            "Volume",
        )
        assert "OBV" in arguments["indicators"]
        assert "ATR_14" not in arguments["indicators"]

    def test_a_price_beside_what_is_sold_is_no_market(self, next_call):
        shop = {**PROBLEM, "target": "sales", "horizon": 1}
        assert next_call(decide_features, {**ANALYST, "problem": shop, "columns": ["price", "sales"]})[0] == (
            "create_features"
        )


class TestModelTrainer:
    def test_little_time_and_many_rows_leave_families_out(self, next_call):
        chosen = {}
        for rows, seconds in ((1000, 30.0), (1000, 1.0), (1_000_000, 30.0)):
            brief = {**TRAINER, "rows": rows, "time_left_s": seconds}
            arguments = next_call(trainer.decide, brief)[1]
            chosen[rows, seconds] = {candidate["estimator"] for candidate in arguments["candidates"]}
        assert chosen[1000, 30.0] > chosen[1000, 1.0]
        assert chosen[1000, 30.0] > chosen[1_000_000, 30.0]
        assert all("baseline" in each and len(each) >= 3 for each in chosen.values())

    def test_the_logarithm_of_a_target_with_a_long_tail_is_learned_too(self, next_call):
        brief = {**TRAINER, "problem": {**PROBLEM, "kind": "regression"}, "long_tail": True}
        candidates = next_call(trainer.decide, brief)[1]["candidates"]
        logged = {each["name"] for each in candidates if each.get("hyperparameters") == {"on_log": True}}
        assert logged == {"LightGBM-log", "LightGBMExtra-log", "Ridge-log"}

    def test_where_a_person_must_be_able_to_read_it_only_a_linear_model_is_fitted(self, next_call):
        _, arguments = next_call(trainer.decide, {**TRAINER, "model": "interpretable"})
        assert [each["estimator"] for each in arguments["candidates"]] == ["baseline", "LogisticRegression"]

    @pytest.mark.parametrize(("kind", "first"), [("stratified", 0), ("time", 4)])
    def test_every_family_is_tried_on_one_fold_first_in_time_order_the_latest(self, next_call, kind, first):
        _, arguments = next_call(trainer.decide, {**TRAINER, "folds": {**FOLDS, "kind": kind}})
        assert arguments["folds"] == [first]

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
    def test_everything_that_was_fitted_is_blended_first(self, next_call):
        name, arguments = next_call(decide_evaluation, EVALUATOR)
        assert (name, arguments["models"]) == (
            "build_ensemble",
            ["LogisticRegression", "XGBoost", "RandomForest"],
        )

    def test_what_earned_no_weight_is_not_blended_again(self, next_call):
        brief = {**EVALUATOR, "weights": {"XGBoost": 0.7, "RandomForest": 0.3, "LogisticRegression": 0.0}}
        assert next_call(decide_evaluation, brief)[1]["models"] == ["XGBoost", "RandomForest"]

    def test_what_is_blended_already_is_not_blended_again(self, next_call):
        brief = {**EVALUATOR, "weights": {"XGBoost": 1.0}, "blended": True, "can_tune": False}
        name, arguments = next_call(decide_evaluation, brief)
        assert (name, arguments["models"][0]) == ("compare_models", "Ensemble")

    @pytest.mark.parametrize(
        ("more", "expected"),
        [
            ({}, "Verdict"),
            ({"can_tune": False}, "compare_models"),
            ({"time_left_s": 0.3}, "compare_models"),
        ],
    )
    def test_more_is_fitted_while_there_is_time_for_it(self, next_call, more, expected):
        blended = ("build_ensemble", {"models": []}, _blend(XGBoost=0.7, RandomForest=0.3))
        name, arguments = next_call(decide_evaluation, {**EVALUATOR, **more}, blended)
        assert name == expected
        if name == "Verdict":
            assert (arguments["tune"], arguments["chosen"]) == (True, "Ensemble")
        else:
            assert arguments["models"] == ["Ensemble", *(each["name"] for each in FITS)]

    def test_light_candidates_that_lack_folds_do_not_hold_the_last_blend_to_fewer_rows(self, next_call):
        fits = [*FITS[:2], fit("XGBoost", 0.9, run=[0, 1, 2]), fit("RandomForest", 0.85, run=[0, 1, 2])]
        for light, expected in ((0.1, "build_ensemble"), (0.4, "compare_models")):
            weights = {"XGBoost": 0.5, "RandomForest": 0.5 - light, "LogisticRegression": light}
            blended = ("build_ensemble", {"models": list(weights)}, _blend(**weights))
            brief = {**EVALUATOR, "fits": fits, "can_tune": False}
            name, arguments = next_call(decide_evaluation, brief, blended)
            assert name == expected
            assert arguments["models"][:2] == ["XGBoost", "RandomForest"] or light > 0.2

    def test_one_simple_model_is_chosen_without_a_blend_and_its_folds_become_one(self, next_call):
        fits = [*FITS[:2], fit("XGBoost", 0.9, run=[0, 1])]
        brief = {**EVALUATOR, "fits": fits, "can_tune": False, "model": "single"}
        assert next_call(decide_evaluation, brief)[0] == "compare_models"
        compared = ("compare_models", {}, _comparison("XGBoost", True))
        assert next_call(decide_evaluation, brief, compared) == ("build_ensemble", {"models": ["XGBoost"]})
        joined = ("build_ensemble", {"models": ["XGBoost"]}, {**_blend(XGBoost=1.0), "name": "XGBoost"})
        name, verdict = next_call(decide_evaluation, brief, compared, joined)
        assert (name, verdict["chosen"]) == ("Verdict", "XGBoost")

    def test_nothing_that_beats_the_baseline_is_said(self, next_call):
        calls = [("build_ensemble", {}, REFUSED), ("compare_models", {}, _comparison("XGBoost", False))]
        name, verdict = next_call(decide_evaluation, {**EVALUATOR, "can_tune": False}, *calls)
        assert name == "Verdict"
        assert verdict["cautions"][0].startswith("No candidate beats the baseline")

    def test_a_candidate_that_nobody_knows_is_left_out_of_the_comparison(self, next_call):
        refused = {"refused": "There is no model 'XGBoost'. There are: baseline."}
        tried = ("compare_models", {"models": ["baseline", "XGBoost"]}, refused)
        blended = ("build_ensemble", {"models": []}, REFUSED)
        brief = {**EVALUATOR, "can_tune": False}
        assert next_call(decide_evaluation, brief, blended, tried) == (
            "compare_models",
            {"models": ["baseline"]},
        )

    def test_the_next_round_is_what_was_found_to_be_worth_it(self, next_call):
        brief = {**EVALUATOR, "weights": {"XGBoost": 1.0}, "time_left_s": 3.0}
        name, arguments = next_call(decide_tuning, brief)
        assert (name, arguments["models"], arguments["folds"][0]) == ("add_folds", ["XGBoost", "baseline"], 1)
        whole = [fit("XGBoost", 0.9, run=[0, 1, 2, 3, 4])]
        name, arguments = next_call(decide_tuning, {**EVALUATOR, "fits": whole, "weights": {"XGBoost": 1.0}})
        assert (name, arguments["models"]) == ("tune_hyperparameters", ["XGBoost"])
        name, output = next_call(decide_tuning, EVALUATOR, ("add_folds", {}, REFUSED))
        assert (name, output["notes"]) == ("Tuned", ["No."])


class TestReporter:
    def test_it_writes_what_it_may_and_says_what_is_missing(self, next_call):
        final = {"metric": "roc_auc", "metrics": {}, "beats_baseline": False}
        chosen = {"chosen": "XGBoost", "cautions": [], "final": final}
        brief = {**COMMON, **chosen, "tools": ["generate_summary"]}
        assert next_call(reporter.decide, brief)[0] == "generate_summary"
        name, output = next_call(reporter.decide, brief, ("generate_summary", {}, REFUSED))
        assert name == "Reported"
        assert "no better than the baseline" in output["headline"]
        assert "Missing: No." in output["headline"]


def _eda(certain: bool | None) -> dict[str, Any]:
    leak = {
        "column": "boat",
        "kind": "nearly_perfect",
        "text": "`boat` is filled for survivors.",
        "certain": certain,
    }
    return {"findings": [], "leaks": [] if certain is None else [leak]}


def _blend(**weights: float) -> dict[str, Any]:
    return {"name": "Ensemble", "metric": "roc_auc", "score": 0.91, "weights": weights}


def _comparison(chosen: str, beats_baseline: bool) -> dict[str, Any]:
    return {"chosen": chosen, "reason": f"{chosen} is best.", "beats_baseline": beats_baseline}
