"""Names of metrics and families, refused before anything is sent."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from app.cli.sessions.commands import fork
from app.cli.sessions.named_options import check_budget, check_families, check_metric
from app.cli.sessions.run import run
from app.errors import InvalidInput


def test_names_are_spelled_as_the_service_spells_them() -> None:
    assert check_metric("ROC_AUC") == "roc_auc"
    assert check_families(["lightgbm", "Ridge"]) == ["LightGBM", "Ridge"]
    assert check_metric(None) is None


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        (run, ["--metric", "foo"], r"^There is no metric 'foo'\. There are: "),
        (run, ["--metric", "roc-auc"], r"^There is no metric 'roc-auc'\. Did you mean roc_auc"),
        (fork, ["--metric", "foo"], r"^There is no metric 'foo'\."),
        (fork, ["--family", "LightGMB"], r"^There is no family 'LightGMB'\. Did you mean LightGBM"),
    ],
)
def test_an_unknown_name_is_refused_with_those_that_there_are(
    tmp_path: Path, command: object, arguments: list[str], message: str
) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    words = [str(table), "Predict a."] if command is run else ["last"]
    app = typer.Typer()
    app.command()(command)  # type: ignore[type-var]
    result = CliRunner().invoke(app, [*words, *arguments])
    assert isinstance(result.exception, InvalidInput)
    with pytest.raises(InvalidInput, match=message):
        raise result.exception


@pytest.mark.parametrize("seconds", [0.5, 0, -3, float("nan")])
def test_a_budget_below_a_second_is_refused_in_words(seconds: float) -> None:
    with pytest.raises(InvalidInput, match="at least 1 second"):
        check_budget(seconds)
