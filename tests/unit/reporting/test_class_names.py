"""Classes that say no more than yes or no are shown with their meaning."""

import pytest

from app.modeling.facts.conversion import parse_facts
from app.reporting.class_names import name_classes
from app.reporting.fact_records import DrawnEvaluation
from app.reporting.figure_choice import evaluation_figures

from .conftest import make_draft
from .test_compose import prose


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([0, 1], ["0: not survived", "1: survived"]),
        (["no", "yes"], ["no: not survived", "yes: survived"]),
        ([0.0, 1.0], ["0.0: not survived", "1.0: survived"]),
        (["dead", "alive"], ["dead", "alive"]),
        (["0", "alive"], ["0", "alive"]),
        ([0, 1, 2], ["0", "1", "2"]),
    ],
)
def test_two_classes_of_yes_and_no_have_the_name_of_their_column(
    values: list[object], names: list[str]
) -> None:
    assert name_classes(values, "survived") == names


def test_the_confusion_matrix_names_classes_as_the_answer_does(titanic) -> None:
    assert "](#c" in prose(make_draft(titanic))
    final = next(call.result for call in titanic if call.tool == "final_evaluation")
    labels = parse_facts(DrawnEvaluation, final).confusion
    assert labels is not None
    [drawn] = [figure for figure in evaluation_figures(final, "survived") if figure.kind == "confusion"]
    assert drawn.facts["labels"] == name_classes([*labels.labels], "survived")
    assert any("survived" in str(label) for label in drawn.facts["labels"])
