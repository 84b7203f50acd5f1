"""The main job, as a newcomer starts it."""

import json
import re
from pathlib import Path


def test_the_demo_ends_with_a_checked_report_and_leaves_no_process(home: Path, labcrew) -> None:
    done = labcrew(home, "demo", "--json", "--budget", "8")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == "completed"
    assert told["result"]["report"]["checked_claims"] > 50
    holdout = told["result"]["holdout"]
    assert 0.7 < holdout["low"] < holdout["value"] < holdout["high"] <= 1
    page = Path(told["report"]).read_text()
    assert "survived" in page
    assert not re.search(r"""(src|href)=["']https?://""", page), "the report must stand alone"
    assert not list(home.rglob("*.pid"))
