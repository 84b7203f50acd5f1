from app.recorded_call import RecordedCall
from app.reporting import markdown, model_card
from app.reporting.compose import compose
from app.reporting.verification import verify_report

from .conftest import make_draft


def test_a_card_has_the_sections_of_the_paper_and_passes_the_check(titanic: list[RecordedCall]) -> None:
    draft = make_draft(titanic)
    card = model_card.compose(draft)
    assert card is not None

    text = markdown.render(card)

    titles = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert titles == [
        "Answer",
        "Model details",
        "Intended use",
        "Factors",
        "Metrics",
        "Evaluation data",
        "Training data",
        "Quantitative analyses",
        "Ethical considerations",
        "Caveats and recommendations",
        "Provenance",
    ]
    for fact in ("3\\.11\\.9", "LogisticRegression", "9f2c1b7a44d0e3c5", "Seed"):
        assert fact in text
    assert verify_report(card.to_json(), draft.calls, markdown=text).mismatches == ()


def test_card_and_report_say_which_rows_of_a_file_were_left_out(titanic: list[RecordedCall]) -> None:
    note = "The last 2 lines are no rows ('Total,9'); left out."
    datasets = [{"name": "titanic", "rows": 1313, "columns": 5, "digest": "9f2c", "notes": [note]}]
    draft = make_draft(titanic, datasets=datasets)
    card = model_card.compose(draft)
    assert card is not None

    for document in (card, compose(draft).lay_out()):
        text = markdown.render(document)
        assert "The last 2 lines are no rows" in text
        assert verify_report(document.to_json(), draft.calls, markdown=text).mismatches == ()


def test_without_an_evaluated_model_there_is_no_card(titanic: list[RecordedCall]) -> None:
    assert model_card.compose(make_draft([c for c in titanic if c.tool != "final_evaluation"])) is None
