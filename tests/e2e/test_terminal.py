"""Sessions found again from the terminal: listed, shown, answered, watched, opened and cancelled."""

import json
from pathlib import Path

from tests.e2e.conftest import Up

TABLE = "region,amount\n" + "".join(f"{region},{value}\n" for region in "NSEW" for value in range(1, 101))
AMBIGUOUS = "Predict it."


def test_a_session_that_asks_is_answered_by_a_later_command(up: Up, labcrew, tmp_path) -> None:
    file = tmp_path / "orders.csv"
    file.write_text(TABLE)
    asked = labcrew(up.home, "run", str(file), AMBIGUOUS, "--budget", "3", "--json")
    assert asked.returncode == 5, asked.stdout + asked.stderr
    session = json.loads(asked.stdout)["session"]

    listed = json.loads(labcrew(up.home, "sessions", "--json").stdout)
    assert listed[0]["id"] == session
    assert listed[0]["status"] == "awaiting_user"
    row = labcrew(up.home, "sessions", "--status", "awaiting_user").stdout
    assert session[:8] in row
    assert AMBIGUOUS in row

    shown = labcrew(up.home, "show", session[:8])
    assert shown.returncode == 5
    assert f"labcrew answer {session}" in shown.stdout

    answered = labcrew(up.home, "answer", session, "amount", "--json")
    ending = json.loads(answered.stdout)
    assert ending["session"] == session
    assert (answered.returncode, ending["status"]) == (0, "completed"), answered.stdout + answered.stderr

    again = labcrew(up.home, "resume", session)
    assert again.returncode == answered.returncode
    assert labcrew(up.home, "cancel", session).returncode == 3, "it has ended"


def test_a_question_of_figures_is_shown_again_with_its_report(up: Up, labcrew, tmp_path) -> None:
    file = tmp_path / "orders.csv"
    file.write_text(TABLE)
    done = labcrew(up.home, "run", str(file), "What is the total amount by region?", "--budget", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Session " in done.stdout
    shown = labcrew(up.home, "show")
    assert shown.returncode == 0
    assert "Report: " in shown.stdout
    opened = labcrew(up.home, "open", "last", "--out", str(tmp_path / "reports"))
    assert opened.returncode == 0
    assert Path(opened.stdout.splitlines()[0]).read_text().startswith("<!doctype html>")


def test_an_unknown_session_is_named_with_the_way_to_the_list(up: Up, labcrew) -> None:
    unknown = labcrew(up.home, "show", "ffffffff")
    assert unknown.returncode == 3
    assert "labcrew sessions" in unknown.stderr


def test_the_version_is_printed_without_a_service(tmp_path, labcrew) -> None:
    printed = labcrew(tmp_path / "none", "--version")
    assert printed.returncode == 0
    assert printed.stdout.startswith("labcrew ")
    assert not (tmp_path / "none").exists()


def test_runs_of_a_workflow_are_listed_with_the_id_that_a_retry_takes(up: Up, labcrew, tmp_path) -> None:
    file = tmp_path / "arrivals.json"
    nodes = [
        {"id": "came", "type": "payload", "config": {}},
        {"id": "top", "type": "limit", "config": {"rows": 3}, "retries": 2, "timeout_s": 30},
    ]
    condition = {"field": "rows", "op": ">", "value": 0}
    edges = [{"from": "came", "to": "top", "condition": condition}]
    file.write_text(json.dumps({"nodes": nodes, "edges": edges}))
    assert labcrew(up.home, "workflow", "create", str(file)).returncode == 0
    assert "not run yet" in labcrew(up.home, "workflow", "runs", "arrivals").stdout
    zone = ("--time-zone", "Europe/Berlin", "--yes")
    changed = labcrew(up.home, "workflow", "change", "arrivals", "run it every weekday at 8", *zone)
    assert changed.returncode == 0, changed.stdout + changed.stderr
    description = labcrew(up.home, "workflow", "show", "arrivals").stdout.splitlines()
    assert "every weekday at 8:00, Europe/Berlin" in description[1]
    assert description[2].startswith("    next ")
    assert description[2].count(", ") == 4
    assert '  top (limit, 2 retries, at most 30 s) {"rows": 3}' in description
    assert description[-1] == "  came -> top if rows > 0"
    versions = labcrew(up.home, "workflow", "versions", "arrivals").stdout.splitlines()
    assert [line.split()[0] for line in versions] == ["2", "1"]
    assert all(line.endswith(")") and "@" in line for line in versions)

    run = labcrew(up.home, "workflow", "run", "arrivals")
    assert "payload" in run.stdout, run.stdout + run.stderr
    (line,) = labcrew(up.home, "workflow", "runs", "arrivals").stdout.splitlines()
    assert "version 2  failed" in line
    again = labcrew(up.home, "workflow", "retry", line.split()[0])
    assert "came: failed" in again.stdout, again.stdout + again.stderr
    listed = labcrew(up.home, "workflow", "runs", "arrivals").stdout.splitlines()
    assert listed[1] == line
    assert listed[0].split()[0] in again.stdout
