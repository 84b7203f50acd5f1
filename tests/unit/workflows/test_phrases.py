"""Phrases become changes of a workflow that stays valid, or questions."""

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.workflows.differences import compare_documents
from app.workflows.document import WorkflowDocument
from app.workflows.patching import PatchOperation, apply_patch, make_patch
from app.workflows.phrases.change import ChangedDocument, ChangeQuestion
from app.workflows.phrases.reader import read_change
from app.workflows.phrases.work_steps import KnownModel
from app.workflows.validation import find_faults

CHEAP = {
    "kind": "compare",
    "op": "<",
    "left": {"kind": "column", "name": "price"},
    "right": {"kind": "literal", "value": 300},
}
WORKFLOW = WorkflowDocument.model_validate(
    {
        "nodes": [
            {
                "id": "prices",
                "type": "read_dataset",
                "config": {"dataset_id": "00000000-0000-4000-8000-000000000001"},
            },
            {"id": "cheap", "type": "filter", "config": {"condition": CHEAP}},
            {"id": "best", "type": "top_k", "config": {"k": 10, "by": "price"}},
            {"id": "email", "type": "notify", "config": {"channel": "email"}},
        ],
        "edges": [
            {"from": "prices", "to": "cheap"},
            {"from": "cheap", "to": "best"},
            {"from": "best", "to": "email"},
        ],
    }
)
COLUMNS = ["city", "price", "booked"]

PHRASES = {
    "add a notification after the filter": ["+ email_2 (notify)", "+ cheap -> email_2", "+ email_2 -> best"],
    "change the threshold to 500": ["~ cheap config.condition.right.value: 300 -> 500"],
    "use 20 instead of 10": ["~ best config.k: 10 -> 20"],
    "raise the limit to 1,000": ["~ best config.k: 10 -> 1000"],
    "run it every weekday at 8": ["+ trigger (trigger)"],
    "if it fails tell ops": ["+ slack_on_failure (notify)"],
    "remove the email": ["- email (notify)", "- best -> email"],
    "delete the last step": ["- email (notify)", "- best -> email"],
    "get rid of the filter": ["- cheap (filter)", "+ prices -> best"],
    "always send an email when the price drops": ["+ condition (condition)", "+ condition -> email_2"],
    "only send the message if there are more than 5 rows": ["~ best -> email: always -> if rows > 5"],
    "if there are no rows, tell ops, otherwise save it as best": [
        "+ best -> slack if rows = 0",
        "+ best -> store if rows != 0",
    ],
    "email boss@example.com if the average price is at least 50": [
        "+ condition (condition)",
        "+ best -> condition",
        "+ condition -> email_2",
    ],
    "tell ops unless the lowest price is above 20": ["+ condition -> slack if passes = false"],
    "remove duplicates before the filter": ["+ distinct (distinct)", "+ prices -> distinct"],
    "insert a distinct between prices and cheap": ["+ distinct -> cheap", "- prices -> cheap"],
    "add a filter for city = Oslo after the read": ["+ filter (filter)", "+ prices -> filter"],
    "put the filter after the top step": ["+ best -> cheap", "+ cheap -> email"],
    "rename the filter to only_cheap": ["+ only_cheap (filter)", "- cheap (filter)"],
    "require approval before the email": ["+ approve (approve)", "+ approve -> email"],
    'change the subject to "Weekly report"': ["~ email config.subject: nothing -> Weekly report"],
    "if the request fails, retry it three times": ["~ email config.retries: nothing -> 3"],
    "retry the top step twice": ["~ best retries: nothing -> 2"],
    "set the timeout of the top step to 30": ["~ best timeout_s: nothing -> 30.0"],
    "post to #sales every Friday at 17:00": ["+ slack (notify)", "+ trigger (trigger)"],
    "predict churn for the new rows every Monday": ["+ predict (predict)", "+ trigger (trigger)"],
    "draw a chart of price by city after the filter": ["+ chart (chart)", "+ cheap -> chart"],
    "add a histogram of price before the email": ["+ chart (chart)", "+ chart -> email"],
    "save the result as cheap flights every day": ["+ store (store)", "+ trigger (trigger)"],
    "for each city draw a line chart of price by booked": ["+ for_each (for_each)"],
    "for each city, send an email": ["+ for_each (for_each)"],
}
MODELS = (
    KnownModel(UUID(int=1), "LightGBM", "churn"),
    KnownModel(UUID(int=2), "Ridge", "price"),
    KnownModel(UUID(int=3), "Older", "churn"),
)


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_changes_what_it_names(phrase: str) -> None:
    change = read_change(phrase, WORKFLOW, COLUMNS, models=MODELS)
    assert isinstance(change, ChangedDocument), change
    lines = compare_documents(WORKFLOW, change.document).text.splitlines()
    assert set(PHRASES[phrase]) <= set(lines), lines
    assert find_faults(change.document) == []


@pytest.mark.parametrize(
    ("phrase", "config"),
    [
        ("run it every weekday at 8", {"kind": "schedule", "cron": "0 8 * * 1-5", "time_zone": "UTC"}),
        ("run this at midnight", {"kind": "schedule", "cron": "0 0 * * *", "time_zone": "UTC"}),
        ("repeat this on Mondays and Thursdays at 6:30 pm", {"cron": "30 18 * * 1,4"}),
        ("run it on the first of each month at 6 am", {"cron": "0 6 1 * *"}),
        ("run it daily at noon Europe/Oslo", {"cron": "0 12 * * *", "time_zone": "Europe/Oslo"}),
        ("run it twice a day", {"cron": "0 8,20 * * *"}),
        ("run it every 15 minutes", {"kind": "interval", "every_s": 900}),
        ("update the schedule to 6 am", {"cron": "0 6 * * *"}),
        ("trigger it by webhook", {"kind": "webhook"}),
    ],
)
def test_a_schedule_is_read(phrase: str, config: dict[str, object]) -> None:
    change = read_change(phrase, WORKFLOW, COLUMNS)
    assert isinstance(change, ChangedDocument), change
    (trigger,) = [node.config for node in change.document.nodes if node.type == "trigger"]
    assert trigger.items() >= config.items()


def test_a_second_schedule_replaces_the_first_and_can_be_paused() -> None:
    first = read_change("run it every weekday at 8", WORKFLOW, COLUMNS)
    assert isinstance(first, ChangedDocument)
    second = read_change("run it daily at 9", first.document, COLUMNS)
    assert isinstance(second, ChangedDocument)
    paused = read_change("pause the schedule", second.document, COLUMNS)
    assert isinstance(paused, ChangedDocument)
    (trigger,) = [node for node in paused.document.nodes if node.type == "trigger"]
    assert (trigger.config["cron"], trigger.config["enabled"]) == ("0 9 * * *", False)


@pytest.mark.parametrize(
    ("phrase", "options"),
    [
        ("change it", "run it every weekday at 8"),
        ("remove the join", "cheap"),
        ("stop the daily run", None),
        ("email me when the weather changes", "if price drops"),
    ],
)
def test_an_unclear_phrase_is_asked_about(phrase: str, options: str | None) -> None:
    change = read_change(phrase, WORKFLOW, COLUMNS)
    assert isinstance(change, ChangeQuestion), change
    assert options is None or options in change.options


@pytest.mark.parametrize(
    ("phrase", "type_", "config"),
    [
        ("predict churn on Mondays", "predict", {"model_id": str(UUID(int=1))}),
        ("draw a chart of price by city", "chart", {"kind": "bar", "x": "city", "y": ["price"]}),
        ("add a line chart of price over booked", "chart", {"kind": "line", "x": "booked", "y": ["price"]}),
        ('store it as "best flights"', "store", {"name": "best flights"}),
    ],
)
def test_a_step_in_words_has_the_configuration_that_they_name(
    phrase: str, type_: str, config: dict[str, object]
) -> None:
    change = read_change(phrase, WORKFLOW, COLUMNS, models=MODELS)
    assert isinstance(change, ChangedDocument), change
    assert [node.config for node in change.document.nodes if node.type == type_] == [config]


def test_a_prediction_without_a_model_is_asked_about() -> None:
    change = read_change("predict arrivals every Monday", WORKFLOW, COLUMNS, models=MODELS)
    assert isinstance(change, ChangeQuestion)
    assert change.options == ("predict churn", "predict price")


WORDS = st.lists(st.sampled_from(" ".join(PHRASES).replace(",", " ,").split()), min_size=1, max_size=12).map(
    " ".join
)


@settings(max_examples=150, deadline=None)
@given(WORDS)
def test_no_words_make_an_invalid_workflow_and_each_change_can_be_taken_back(words: str) -> None:
    change = read_change(words, WORKFLOW, COLUMNS)
    if isinstance(change, ChangedDocument):
        assert {fault.code for fault in find_faults(change.document)} <= {"wrong_config"}
        forth = [PatchOperation.model_validate(part) for part in make_patch(WORKFLOW, change.document)]
        back = [PatchOperation.model_validate(part) for part in make_patch(change.document, WORKFLOW)]
        assert not forth or apply_patch(WORKFLOW, forth) == change.document
        assert not back or apply_patch(change.document, back) == WORKFLOW
