"""Goals in plain words, and the plans they become: over real tools, with no provider."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt

from app.agents.goals.refusals.spelled_out_procedures import find_procedure
from app.sessions.in_memory import MemoryJournal


@dataclass(frozen=True)
class Case:
    goal: str
    tables: tuple[str, ...]
    plan: dict[str, Any]
    preferences: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.goal


CLEAR = (
    Case("Predict which passengers survived", ("titanic",), {"target": "survived"}),
    Case(
        "Who survived? Ignore the cabin and any ids.",
        ("titanic",),
        {"target": "survived", "exclude": ["cabin", "PassengerId"]},
    ),
    Case(
        "Predict survival from age and fare, minimise false negatives",
        ("titanic",),
        {"target": "survived", "metric": "recall", "kind": "classification"},
    ),
    Case("Sage die Spalte survived voraus", ("titanic",), {"target": "survived"}),
    Case("Predict the fare of a passenger", ("titanic",), {"target": "fare", "kind": None}),
    Case("How much will a house sell for?", ("houses",), {"target": "SalePrice", "kind": "regression"}),
    Case(
        "Estimate the sale price of houses without using the city; keep the mean absolute error small",
        ("houses",),
        {"target": "SalePrice", "exclude": ["city"], "metric": "mae", "kind": "regression"},
    ),
    Case(
        "Predict whether a house costs more than 300k",
        ("houses",),
        {
            "target": "SalePrice",
            "cut": {"above": True, "value": 300_000.0, "is_inclusive": False},
            "kind": "classification",
        },
    ),
    Case(
        "Predict next-day direction from these prices",
        ("stock",),
        {
            "target": "close",
            "horizon": 1,
            "outlook": "direction",
            "time_column": "date",
            "kind": "classification",
        },
    ),
    Case(
        "Forecast the close 5 days ahead",
        ("stock",),
        {"target": "close", "horizon": 5, "time_column": "date", "kind": "regression"},
    ),
    Case("Forecast tomorrow's demand", ("hourly",), {"target": "demand", "horizon": 24, "time_column": "ts"}),
    Case("Will a customer leave us?", ("customers",), {"target": "Churn"}),
    Case(
        "Predict churn for new customers, judged by AUC",
        ("customers",),
        {"target": "Churn", "metric": "roc_auc"},
    ),
    Case(
        "Join orders with customers and predict churn",
        ("orders", "customers"),
        {"target": "Churn", "tables": ["customers", "orders"], "join": True},
    ),
    Case(
        "Predict churn",
        ("orders", "customers"),
        {"target": "Churn", "tables": ["customers", "orders"], "join": True},
    ),
    Case(
        "Predict churn, ignore the orders",
        ("orders", "customers"),
        {"target": "Churn", "tables": ["customers"], "join": False},
    ),
    Case(
        "Detect malignant tumors and catch as many as possible",
        ("tumors",),
        {"target": "diagnosis", "positive_class": "malignant", "metric": "recall"},
    ),
    Case("Classify the species", ("flowers",), {"target": "species", "kind": "classification"}),
    Case("Predict `petal_length`", ("flowers",), {"target": "petal_length"}),
    Case("Predict fuel consumption of a car", ("cars",), {"target": "mpg"}),
    Case(
        "Predict the quality as a number, judged by RMSE",
        ("wine",),
        {"target": "quality", "kind": "regression", "metric": "rmse"},
    ),
    Case(
        "Predict whatever you like",
        ("titanic",),
        {"target": "fare", "metric": "mae", "exclude": ["name"]},
        {"target": "fare", "metric": "mae", "exclude": ["name"]},
    ),
    Case(
        "Predict bitcoin's price direction at the next bar, fees 5 bps",
        (),
        {"source": "prices", "coins": ["BTC"], "target": "close", "outlook": "direction", "horizon": 1},
    ),
    *(
        Case(
            goal,
            (),
            {
                "coins": ["BTC"],
                "target": "close",
                "kind": "classification",
                "outlook": "direction",
                "horizon": 12,
            },
        )
        for goal in (
            "Predict whether BTC rises in the next hour, fees 10 bps",
            "Will bitcoin be higher in an hour? There are no fees.",
            "Tell me if the price of BTC will fall within the next 60 minutes, with 0.1% commission",
        )
    ),
    Case(
        "Predict churn; I do not know whether it will rise",
        ("customers",),
        {"target": "Churn", "kind": "classification", "outlook": None, "horizon": None},
    ),
)


@pytest.mark.parametrize("case", CLEAR, ids=str)
async def test_a_clear_goal_becomes_its_plan_without_a_question(case, bench, tables):
    bench.shelf.datasets = [tables[name] for name in case.tables]
    thought = await bench.run("planner", {"goal": case.goal, "preferences": case.preferences})
    plan = thought.output.model_dump(mode="json")
    assert {name: plan[name] for name in case.plan} == case.plan
    assert bench.questions == []


UNCLEAR = (
    Case("Predict the length of a flower", ("flowers",), {}),
    Case("Build the best model you can", ("titanic", "houses"), {}),
)


@pytest.mark.parametrize("case", UNCLEAR, ids=str)
async def test_an_unclear_goal_becomes_a_question_about_the_target(case, bench, tables):
    bench.shelf.datasets = [tables[name] for name in case.tables]
    with pytest.raises(GraphInterrupt):
        await bench.run("planner", {"goal": case.goal, "preferences": {}})
    [question] = bench.journal.questions
    assert question.text.startswith("Which column should be predicted?")
    assert question.answer_schema["type"] == "string"
    assert question.default is None


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        ("Wie hoch wird der Fahrpreis für den Passagier sein?", "Dieses Ziel wurde nicht verstanden"),
        ("fare fare fare 3 4 4 4", "make no request"),
    ],
)
async def test_a_likely_column_is_no_reading_of_a_goal_that_cannot_be_read(goal, reason, bench, tables):
    bench.shelf.datasets = [tables["titanic"]]
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert not plan.is_understood
    assert reason in plan.notes[0]


async def test_the_answer_to_a_question_becomes_the_target(bench, tables):
    bench.shelf.datasets = [tables["flowers"]]
    for answer in ("petal_length", "sepal_length"):
        bench.journal = MemoryJournal(answers={"tool:2.0": answer})
        thought = await bench.run("planner", {"goal": "Predict the length of a flower", "preferences": {}})
        assert thought.output.target == answer


async def test_few_whole_numbers_are_amounts_unless_the_goal_calls_them_classes(bench, tables):
    bench.shelf.datasets = [tables["wine"]]
    plans = []
    for goal in ("Predict the quality of a wine", "Classify the quality of a wine"):
        bench.journal = MemoryJournal()
        plans.append((await bench.run("planner", {"goal": goal, "preferences": {}})).output)
    assert [plan.kind for plan in plans] == ["regression", "classification"]
    assert any('say "classify quality" otherwise' in note for note in plans[0].notes)
    assert not bench.questions


async def test_the_plan_follows_what_the_schema_says(bench, make_table, make_column):
    """The same goal over tables that differ in one column's profile."""
    plans = []
    for hint, distinct in (("numeric", 900), ("category", 2)):
        bench.journal = MemoryJournal()
        bench.shelf.datasets = [make_table("t", [make_column("x"), make_column("outcome", hint, distinct)])]
        plans.append((await bench.run("planner", {"goal": "Predict the outcome", "preferences": {}})).output)
    assert [plan.kind for plan in plans] == [None, "classification"]


async def test_a_phrase_that_matches_no_column_is_said_and_not_guessed(bench, tables):
    bench.shelf.datasets = [tables["titanic"]]
    thought = await bench.run(
        "planner", {"goal": "Predict who survived without the shoe size", "preferences": {}}
    )
    assert thought.output.exclude == []
    assert "shoe size" in thought.output.notes[0]


async def test_a_group_that_must_be_new_becomes_the_group_column(bench, make_table, make_column):
    columns = [make_column("patient", "category", 80), make_column("marker"), make_column("sick", "boolean", 2)]
    bench.shelf.datasets = [make_table("visits", columns)]
    thought = await bench.run("planner", {"goal": "Predict who is sick, for new patients", "preferences": {}})
    assert (thought.output.target, thought.output.group_column) == ("sick", "patient")


async def test_a_series_is_that_of_the_table_with_the_likeliest_column(bench, make_table, make_column):
    """Both tables have dates and numbers, and the goal names neither of them."""
    dates = {"type": "datetime", "min": "2021-01-01", "max": "2023-12-31"}
    given, joined = (make_column(name, "datetime", 700, **dates) for name in ("given", "joined"))
    gifts = make_table("gifts", [make_column("gift_id", "id"), given, make_column("amt_usd")], 4_000)
    donors = make_table("donors", [make_column("donor_id", "id"), joined, make_column("age")], 900)
    bench.shelf.datasets = [gifts, donors]
    goal = "income from donations per month for the next twelve months"
    thought = await bench.run("planner", {"goal": goal, "preferences": {}})
    assert thought.output.tables == ["gifts"]
    assert (thought.output.aggregation.column, thought.output.aggregation.every) == ("amt_usd", "month")
    assert thought.output.horizon == 12


async def test_without_any_table_the_planner_says_that_there_is_nothing_to_predict(bench):
    thought = await bench.run("planner", {"goal": "Predict the price", "preferences": {}})
    assert thought.output.target == "?"


@pytest.mark.parametrize(
    ("goal", "procedure"),
    [
        ("Regress fare on age by ordinary least squares with an intercept. Give @r2[value].", "ordinary least"),
        ("Train RandomForest(n_estimators=9) on the first 40 rows and report the accuracy.", "RandomForest("),
        ("One-way ANOVA of fare over class, missing values dropped.", "ANOVA"),
    ],
)
async def test_a_procedure_that_is_spelled_out_never_becomes_another_model(bench, tables, goal, procedure):
    bench.shelf.datasets = [tables["titanic"]]
    try:
        planned = await bench.run("planner", {"goal": goal, "preferences": {}})
    except GraphInterrupt:  # asked how the question is meant
        return
    assert planned.output.target == "?"
    assert procedure in planned.output.notes[0]


def test_a_prediction_may_name_a_method() -> None:
    assert find_procedure("Predict the outcome of the t-test") is None
    assert find_procedure("What is the mean fare by class?") is None


@pytest.mark.parametrize(
    ("goal", "rows"),
    [
        ("Predict bitcoin one hour ahead, fees 10 bps", 12),
        ("Predict the next-day direction of ETH without fees", 288),
        ("Predict BTC two hours ahead with hourly bars, fees of 0.1%", 2),
    ],
)
async def test_time_ahead_becomes_rows_of_bars(bench, goal, rows):
    thought = await bench.run("planner", {"goal": goal, "preferences": {}})
    assert (thought.output.source, thought.output.target, thought.output.horizon) == ("prices", "close", rows)


async def test_what_a_reviewer_reads_says_which_columns_are_left_out(bench, tables):
    bench.shelf.datasets = [tables["titanic"]]
    goal = "Predict which passengers survived. Ignore the cabin."
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert plan.steps[0] == "Fetch `titanic`, without `cabin`."


async def test_classes_of_an_amount_are_asked_about(bench, make_table, make_column):
    price = make_column("price", distinct=900, min=1.0, max=99.0, q50=40.0)
    bench.shelf.datasets = [make_table("houses", [make_column("size"), price])]
    plans = {}
    for answer in ("amount", "class"):
        bench.journal = MemoryJournal(answers={"tool:2.0": answer})
        thought = await bench.run("planner", {"goal": "Classify houses by price", "preferences": {}})
        plans[answer] = (thought.output.kind, thought.output.cut and thought.output.cut.value)
    assert plans == {"amount": ("regression", None), "class": ("classification", 40.0)}


async def test_a_metric_that_does_not_fit_the_problem_is_said_and_not_used(bench, tables):
    bench.shelf.datasets = [tables["flowers"]]
    goal = "Predict the species, judged by RMSE"
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert (plan.target, plan.metric) == ("species", None)
    assert plan.notes[0].startswith("rmse does not judge classification")


@pytest.mark.parametrize(("answer", "time_column"), [("date", "date"), ("none of them", None)])
async def test_a_preference_for_a_column_that_is_not_there_is_asked_about(bench, tables, answer, time_column):
    bench.shelf.datasets = [tables["stock"]]
    bench.journal = MemoryJournal(answers={"tool:2.0": answer})
    brief = {"goal": "Predict the volume", "preferences": {"time_column": "dates", "exclude": ["OPEN", "nope"]}}
    plan = (await bench.run("planner", brief)).output
    assert bench.questions[0].startswith("Which column is meant as time_column?")
    assert (plan.time_column, plan.exclude) == (time_column, ["open"])
    assert plan.notes == ["There is no column 'nope' to exclude."]


@pytest.mark.parametrize("clarify", ["ask", "never"])
async def test_no_column_is_taken_for_a_target_that_is_not_there(bench, make_table, make_column, clarify):
    columns = [make_column("machine_id", "id", 900), make_column("age"), make_column("failed", "category", 2)]
    bench.shelf.datasets = [make_table("machines", columns, 900)]
    bench.journal = MemoryJournal(answers={"tool:2.0": "failed"})
    brief = {"goal": "Predict it", "preferences": {"target": "colour", "clarify": clarify}}
    plan = (await bench.run("planner", brief)).output
    if clarify == "never":
        assert plan.target == "?"
        assert plan.notes[0].startswith("There is no column 'colour', which target names.")
        assert "machine_id" not in plan.notes[0]
    else:
        assert plan.target == "failed"


@pytest.mark.parametrize("clarify", ["ask", "never"])
@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        ("Predict y", "`y` is the same in every row, so there is nothing to learn."),
        ("Predict the colour", "No column or value of the tables is called 'colour'."),
    ],
)
async def test_questions_and_refusals_give_the_same_reason_and_suggest_no_refused_column(
    bench, make_table, make_column, goal, reason, clarify
):
    columns = [make_column("a", distinct=40), make_column("b", distinct=30), make_column("y", "constant", 1)]
    bench.shelf.datasets = [make_table("table", columns, 100)]
    bench.journal = MemoryJournal(answers={"tool:2.0": "b"})
    plan = (await bench.run("planner", {"goal": goal, "preferences": {"clarify": clarify}})).output
    text = plan.notes[0] if clarify == "never" else bench.questions[0]
    assert plan.target == ("?" if clarify == "never" else "b")
    assert reason in text
    assert "`a`" in text or clarify == "ask"
    assert "`y`" not in text.replace(reason, "")


def _titanic_all(make_table, make_column):
    """As bokeh ships it: `class` is the cabin's, and stands in the middle."""
    return make_table(
        "titanic_all",
        [
            make_column("name", "text", 1310),
            make_column("class", "category", 4, top=["3rd", "1st", "2nd", "*"]),
            make_column("age", distinct=75, missing=0.42),
            make_column("sex", "category", 2, top=["male", "female"]),
            make_column("survived", "boolean", 2, type="integer", top=[0, 1]),
        ],
        1313,
    )


@pytest.mark.parametrize(
    "goal",
    [
        "Predict the cabin",
        "Find fraud",
        "Make a classifier",
        "Predict anything but survived",
        "Predict survived and age",
        "Predict the name",
        "Help",
    ],
)
async def test_a_goal_that_settles_no_column_is_never_modelled_unasked(bench, make_table, make_column, goal):
    bench.shelf.datasets = [_titanic_all(make_table, make_column)]
    with pytest.raises(GraphInterrupt):
        await bench.run("planner", {"goal": goal, "preferences": {}})
    [question] = bench.journal.questions
    assert question.text.startswith("Which column should be predicted?")
    assert question.default is None


@pytest.mark.parametrize(
    ("goal", "target"),
    [
        ("predict survied", "survived"),
        ("Do not predict survived, predict age", "age"),
        ("I want to know how sex and class affected survival", "survived"),
        ("Predict passenger class", "class"),
        ("survival ~ age + sex", "survived"),
        ("Bitte sage die Spalte survived vorher", "survived"),
        ("Show a chart of survival by class and then predict survival", "survived"),
    ],
)
async def test_a_goal_that_means_one_column_is_not_asked_about(bench, make_table, make_column, goal, target):
    bench.shelf.datasets = [_titanic_all(make_table, make_column)]
    thought = await bench.run("planner", {"goal": goal, "preferences": {}})
    assert (thought.output.target, bench.questions) == (target, [])


@pytest.mark.parametrize(
    "goal",
    [
        "Just explore the data",
        "Just explore, no model please",
        "Tell me something interesting.",
        "Analyse this data",
        "Give me an overview of the passengers",
    ],
)
async def test_a_goal_that_only_looks_gets_a_description_of_the_columns(bench, make_table, make_column, goal):
    bench.shelf.datasets = [_titanic_all(make_table, make_column)]
    thought = await bench.run("planner", {"goal": goal, "preferences": {}})
    [step] = thought.output.parsed_question.plan.steps
    assert (step.kind, thought.output.tables, bench.questions) == ("profile", ["titanic_all"], [])


@pytest.mark.parametrize(
    ("goal", "called", "asks"),
    [
        ("Build the best model", "target", False),
        ("Predict the cultivar", "target", False),
        ("Build the best model", "class", True),
    ],
)
async def test_only_a_goal_that_names_nothing_falls_back_on_what_the_data_calls_its_target(
    bench, make_table, make_column, goal, called, asks
):
    columns = [make_column("ash"), make_column(called, "category", 3), make_column("hue")]
    bench.shelf.datasets = [make_table("wine", columns)]
    bench.journal = MemoryJournal(answers={"tool:2.0": called})
    thought = await bench.run("planner", {"goal": goal, "preferences": {}})
    assert (thought.output.target, bool(bench.questions)) == (called, asks)


@pytest.mark.parametrize("said", ["Predict unprofitable orders", "Predict whether profit is negative"])
async def test_a_loss_is_a_number_below_zero(bench, make_table, make_column, said):
    profit = make_column("Profit", distinct=7000, min=-6600.0, max=8400.0, q50=8.6)
    bench.shelf.datasets = [make_table("store", [make_column("Sales"), profit])]
    plan = (await bench.run("planner", {"goal": said, "preferences": {}})).output
    assert (plan.target, plan.cut and (plan.cut.above, plan.cut.value)) == ("Profit", (False, 0.0))
    assert bench.questions == []


@pytest.mark.parametrize(
    ("goal", "is_question"),
    [
        ("fill in the missing sold_price", False),
        ("impute the missing values of sold price", False),
        ("fill the gaps in sold_price", False),
        ("how many values of sold_price are missing?", True),
    ],
)
async def test_gaps_are_filled_by_a_model(goal: str, is_question: bool, bench, make_table, make_column):
    price = make_column("sold_price", distinct=700, min=30_000.0, max=819_000.0, q50=279_000.0, missing=0.14)
    bench.shelf.datasets = [make_table("houses", [make_column("area"), make_column("rooms"), price])]
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert (plan.question is not None) == is_question
    assert is_question or plan.target == "sold_price"


async def test_a_forecast_without_dates_is_asked_about(bench, make_table, make_column):
    bench.shelf.datasets = [make_table("store", [make_column("Sales"), make_column("Discount")])]
    brief = {"goal": "Forecast sales for the next quarter", "preferences": {}}
    targets = {}
    for answer in ("go on", "nothing, end here"):
        bench.journal = MemoryJournal(answers={"tool:2.0": answer})
        targets[answer] = (await bench.run("planner", brief)).output.target
        assert bench.questions[0].startswith("Shall I go on without time?")
    assert targets == {"go on": "Sales", "nothing, end here": "?"}


@pytest.mark.parametrize(
    ("goal", "target"),
    [
        ("Predict the score of a student in the next term", "score_next_term"),
        ("Predict whether a student leaves within 2 years", "left_within_2_years"),
        ("Failures in the next 30 days", "failed_within_30d"),
    ],
)
@pytest.mark.parametrize("has_dates", [True, False])
async def test_a_target_that_lies_ahead_by_its_name_gets_no_horizon(
    goal: str, target: str, has_dates: bool, bench, make_table, make_column
):
    columns = [
        make_column("score_next_term"),
        make_column("left_within_2_years", distinct=2),
        make_column("failed_within_30d", distinct=2, min=0.0, max=1.0),
        make_column("hours"),
    ]
    span = {"min": "2024-01-01T00:00:00", "max": "2024-12-31T00:00:00"}
    dates = [make_column("day", type="datetime", distinct=300, **span)] if has_dates else []
    bench.shelf.datasets = [make_table("students", [*dates, *columns])]
    plan = (await bench.run("planner", {"goal": goal, "preferences": {}})).output
    assert (plan.target, plan.horizon, plan.outlook) == (target, None, None)
    assert bench.questions == []


async def test_preferences_that_contradict_themselves_are_said(bench, make_table, make_column):
    bench.shelf.datasets = [_titanic_all(make_table, make_column)]
    wishes = {"target": "survived", "exclude": ["survived"], "group_column": "survived"}
    plan = (await bench.run("planner", {"goal": "Predict survival", "preferences": wishes})).output
    assert (plan.target, plan.exclude, plan.group_column) == ("survived", [], None)
    assert [note.split(", so ")[1] for note in plan.notes] == [
        "it is not excluded.",
        "rows are not grouped by it.",
    ]
