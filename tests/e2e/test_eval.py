"""`labcrew eval` over the real service: items that are answered, asked about and refused, and going on."""

import json
from pathlib import Path

from tests.e2e.conftest import Up

ITEMS = ("mean-by-group", "distinct", "unknown-column", "asked-then-answered", "too-little-data")
ONLY = [part for name in ITEMS for part in ("--only", name)]


def test_items_are_judged_once_and_not_run_again(home: Path, labcrew) -> None:
    first = labcrew(home, "eval", "basics", *ONLY, "--jobs", "3", "--at-least", "1", "--json")
    assert first.returncode == 0, first.stdout + first.stderr
    told = json.loads(first.stdout)
    assert [score["item"] for score in told["scores"]] == list(ITEMS)
    assert (told["accuracy"], told["models"]) == (1.0, ["offline"])
    again = labcrew(home, "eval", "basics", *ONLY, "--at-least", "1", "--json", "--url", "http://127.0.0.1:9")
    assert again.returncode == 3, "another service is another crew, which is asked anew"
    same = labcrew(home, "eval", "basics", *ONLY, "--json")
    assert json.loads(same.stdout)["scores"] == told["scores"]
    assert not list(home.rglob("*.pid"))


def test_a_suite_that_cannot_be_read_is_refused_before_a_service_starts(home: Path, labcrew, tmp_path) -> None:
    (tmp_path / "suite.jsonl").write_text('{"id": "a", "goal": "How many?"}\n')
    refused = labcrew(home, "eval", str(tmp_path))
    assert refused.returncode == 3
    assert "line 1: expect: Field required" in refused.stderr


def test_less_than_was_asked_for_ends_with_an_exit_code(up: Up, labcrew, tmp_path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    item = {"id": "wrong", "goal": "How many rows are there?", "tables": ["t.csv"], "expect": {"value": 3}}
    (tmp_path / "suite.jsonl").write_text(json.dumps(item))
    missed = labcrew(up.home, "eval", str(tmp_path), "--at-least", "0.5")
    assert missed.returncode == 1
    assert "2, not 3" in missed.stdout
