"""Conversations end to end: those of `labcrew eval chat`, over one service."""

import json

from tests.e2e.conftest import Up


def test_every_conversation_is_answered_as_expected(up: Up, labcrew) -> None:
    judged = labcrew(up.home, "eval", "chat", "--jobs", "2", "--json")
    assert judged.returncode == 0, judged.stdout + judged.stderr
    scores = json.loads(judged.stdout)["scores"]
    assert len(scores) >= 7
    assert {score["item"]: score["misses"] for score in scores if not score["right"]} == {}
