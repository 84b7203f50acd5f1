"""Workflows in the page: said in words, changed by a proposal, run with an approval, called from outside."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from .conftest import DESKTOP, PHONE, Visit

CITIES = b"city,people\nOslo,709000\nBergen,291000\nTromso,77000\nBodo,53000\n"


def make_workflow(visitor: Visit, name: str = "Largest cities") -> None:
    file = {"name": "cities.csv", "mimeType": "text/csv", "buffer": CITIES}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    nodes: list[dict[str, Any]] = [
        {"id": "calls", "type": "trigger", "config": {"kind": "webhook"}},
        {
            "id": "mornings",
            "type": "trigger",
            "config": {"kind": "schedule", "cron": "0 8 * * 1-5", "time_zone": "Europe/Berlin"},
        },
        {"id": "cities", "type": "read_dataset", "config": {"dataset_id": dataset}},
        {"id": "largest", "type": "top_k", "config": {"k": 3, "by": "people"}, "retries": 2},
        {"id": "draw", "type": "chart", "config": {"kind": "bar", "x": "city", "y": ["people"]}},
        {"id": "check", "type": "approve", "config": {"text": "Are these the largest?"}},
    ]
    edges = [
        {"from": "cities", "to": "largest"},
        {"from": "largest", "to": "draw"},
        {"from": "draw", "to": "check", "condition": {"field": "rows", "op": ">", "value": 1}},
    ]
    visitor.call("POST", "/workflows", data={"name": name, "nodes": nodes, "edges": edges})


def send(page: Page, words: str, workflow: str | None = None) -> None:
    page.get_by_role("textbox", name="In your words").fill(words)
    if workflow is not None:
        page.get_by_role("combobox", name="Workflow").select_option(workflow)
    page.get_by_role("button", name="Send").click()


def test_a_workflow_is_changed_run_and_called_from_the_page(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    make_workflow(visitor)
    visitor.open("/workflows")

    send(page, "show me the top 2 cities sorted by people")
    expect(page.get_by_role("table", name="Table").get_by_role("row")).to_have_count(3)
    send(page, "use 2 instead of 3", "Largest cities")
    expect(page.get_by_role("group", name="Preview")).to_contain_text("2")
    visitor.check_access()
    page.get_by_role("link", name="Accept or reject it").click()

    expect(page.get_by_text("version 1,", exact=False).first).to_be_visible()
    expect(page.get_by_role("list", name="Conditions")).to_have_text("draw → check if rows > 1")
    expect(page.get_by_role("list", name="Nodes").first).to_contain_text("top k, 2 retries 3, people")
    # A schedule is said as the list of triggers says it, and its cron is there for who points at it.
    mornings = page.get_by_role("list", name="Nodes").first.get_by_role("button", name="mornings")
    expect(mornings).to_contain_text("every weekday at 8:00, Europe/Berlin")
    expect(mornings).not_to_contain_text("* *")
    expect(mornings.get_by_title("0 8 * * 1-5")).to_be_visible()
    page.get_by_role("list", name="Nodes").first.get_by_role("button", name="draw").click()
    settings = page.get_by_role("region", name="Settings of draw")
    expect(settings.get_by_role("definition")).to_have_text(["bar", "city", "people"])
    visitor.check_access()
    # Both versions beside each other, a row for each setting.
    differences = page.get_by_role("table", name="Differences")
    expect(differences.get_by_role("columnheader")).to_have_text(
        ["Node", "Setting", "version 1", "with this change"]
    )
    expect(differences.get_by_role("row").last.get_by_role("cell")).to_have_text(["largest", "k", "3", "2"])
    page.get_by_role("button", name="Accept").press("Enter")
    # The button is gone with the version that it belonged to: the focus is on the title, not lost.
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_text("Version 2, “use 2 instead of 3”")).to_contain_text(", by ")
    expect(page.get_by_text("version 2,", exact=False).first).to_be_visible()
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_role("group", name="Question")).to_be_visible()
    visitor.open("/inbox")
    waiting = page.get_by_role("list", name="Questions and proposals").get_by_role("listitem")
    expect(waiting).to_contain_text("Are these the largest?")
    waiting.get_by_role("link", name="Largest cities", exact=True).click()
    page.get_by_role("group", name="Question").get_by_role("button").first.press("Enter")
    expect(page.get_by_role("heading", name="Run of version 2")).to_be_focused()
    nodes = page.get_by_role("list", name="Nodes of the run")
    expect(nodes).to_contain_text("check")
    expect(nodes).to_contain_text("2 rows")
    expect(nodes.get_by_role("img", name="draw")).to_be_visible()
    # The rows that the run came to are open; those on the way to them are not.
    nodes.get_by_role("tab", name="Table").first.click()
    expect(nodes.get_by_role("table", name="Table").first).to_contain_text("Oslo")
    expect(page.get_by_role("region", name="Run of version 2").get_by_text("succeeded")).to_be_visible()
    visitor.check_access()

    triggers = page.get_by_role("list", name="Triggers")
    expect(triggers).to_contain_text("every weekday at 8:00, Europe/Berlin")
    times = triggers.get_by_role("list", name="Next times of mornings").get_by_role("listitem")
    expect(times).to_have_count(5)
    page.get_by_role("button", name="Make its address").click()
    made = page.get_by_role("status").filter(has_text="/hooks/")
    expect(made.get_by_role("button", name="Copy the address")).to_be_visible()
    page.get_by_role("button", name="Make version 1 the newest again").click()
    expect(page.get_by_text("version 3,", exact=False).first).to_be_visible()

    visitor.open("/chat")
    page.get_by_role("textbox", name="Message").fill("run my largest cities workflow")
    page.get_by_role("button", name="Send").click()
    run = page.get_by_role("region", name="Run of version 3")
    visitor.check_access()
    run.get_by_role("group", name="Question").get_by_role("button").first.click()
    expect(run.get_by_role("list", name="Nodes of the run")).to_contain_text("check")
    expect(run.get_by_text("succeeded")).to_be_visible()

    visitor.open("/workflows")
    line = page.get_by_role("list", name="Workflows").get_by_role("listitem")
    expect(line).to_contain_text("succeeded")
    expect(line).to_contain_text(re.compile(r"next (Mon|Tue|Wed|Thu|Fri) \d"))
    visitor.check_access()
    page.get_by_role("link", name="Largest cities").click()
    page.get_by_role("button", name="Delete…").click()
    visitor.check_access()
    page.get_by_role("dialog").get_by_role("button", name="Delete the workflow").click()
    expect(page.get_by_text("No workflow yet.")).to_be_visible()
    visitor.check_rules()


def test_the_list_of_workflows_follows_what_happens_elsewhere(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    visitor.open("/workflows")
    expect(page.get_by_text("No workflow yet.")).to_be_visible()
    make_workflow(visitor)
    line = page.get_by_role("list", name="Workflows").get_by_role("listitem")
    expect(line).to_contain_text("no runs")
    expect(line).to_contain_text(re.compile(r"next (Mon|Tue|Wed|Thu|Fri) \d"))
    saved = visitor.call("GET", "/workflows")["items"][0]["id"]
    visitor.call("POST", f"/workflows/{saved}/run", data={"by_node": True})
    expect(line).to_contain_text("waits for you")
    off = {"op": "add", "path": "/nodes/@mornings/config/enabled", "value": False}
    visitor.call("POST", f"/workflows/{saved}/patch", data={"operations": [off], "version": 1})
    expect(line).to_contain_text("version 2")
    expect(line).not_to_contain_text("next")
    visitor.check_rules()


def test_a_schedule_is_switched_off_and_on(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    make_workflow(visitor)
    visitor.open("/workflows")
    page.get_by_role("link", name="Largest cities").click()
    triggers = page.get_by_role("list", name="Triggers")
    times = triggers.get_by_role("list", name="Next times of mornings")
    expect(times).to_be_visible()
    triggers.get_by_role("button", name="Switch off mornings").click()
    expect(triggers).to_contain_text("Europe/Berlin, switched off")
    expect(times).to_have_count(0)
    expect(page.get_by_text("Version 2, “Switch mornings off.”")).to_be_visible()
    schedule, cron = "every weekday at 8:00, Europe/Berlin", "0 8 * * 1-5"
    row = page.get_by_role("table", name="Differences").get_by_role("row").last
    expect(row.get_by_role("cell")).to_have_text(
        ["mornings", "when it runs", f"{schedule}{cron}", f"{schedule}, switched off{cron}"]
    )
    visitor.check_access()
    triggers.get_by_role("button", name="Switch on mornings").click()
    expect(times).to_be_visible()
    visitor.check_rules()


def test_a_new_version_keeps_what_is_written_and_followed_and_another_workflow_nothing(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    make_workflow(visitor)
    make_workflow(visitor, "Other cities")
    visitor.open("/workflows")
    page.get_by_role("link", name="Largest cities").click()
    page.get_by_role("button", name="Run it").click()
    question = page.get_by_role("group", name="Question")
    expect(question).to_be_visible()
    change = page.get_by_role("textbox", name="What should be different")
    change.fill("use 2 instead of 3")

    page.get_by_role("button", name="Switch off mornings").click()
    expect(page.get_by_text("Version 2, “Switch mornings off.”")).to_be_visible()
    expect(change).to_have_value("use 2 instead of 3")
    question.get_by_role("button").first.click()
    run = page.get_by_role("region", name="Run of version 1")
    expect(run.get_by_text("succeeded")).to_be_visible()

    page.keyboard.press("Control+k")
    page.keyboard.type("other cities")
    palette = page.get_by_role("dialog", name="Go to")
    expect(palette.get_by_role("option", selected=True)).to_contain_text("Other cities")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Other cities")
    expect(run).to_have_count(0)
    expect(change).to_have_value("")
    visitor.check_rules()


def test_branches_that_join_and_the_words_of_an_agent_are_seen(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    file = {"name": "cities.csv", "mimeType": "text/csv", "buffer": CITIES}
    dataset = visitor.call("POST", "/datasets", multipart={"file": file})["id"]
    nodes: list[dict[str, Any]] = [
        {"id": "cities", "type": "read_dataset", "config": {"dataset_id": dataset}},
        {"id": "many", "type": "top_k", "config": {"k": 2, "by": "people"}},
        {"id": "few", "type": "limit", "config": {"rows": 1}},
        {"id": "both", "type": "union", "needs": "any"},
        {"id": "count", "type": "agent", "config": {"prompt": "how many rows are there?"}},
    ]
    edges = [
        {"from": "cities", "to": "many", "condition": {"field": "rows", "op": ">", "value": 3}},
        {"from": "cities", "to": "few", "condition": {"field": "rows", "op": "<=", "value": 3}},
        {"from": "many", "to": "both"},
        {"from": "few", "to": "both"},
        {"from": "both", "to": "count"},
    ]
    saved = visitor.call("POST", "/workflows", data={"name": "Joined", "nodes": nodes, "edges": edges})
    visitor.open(f"/workflows/{saved['id']}")

    expect(page.get_by_role("list", name="Nodes").first).to_contain_text("union, any input")
    page.get_by_role("button", name="Run it").click()
    results = page.get_by_role("list", name="Nodes of the run")
    expect(results).to_contain_text("cities -> few needs rows <= 3, and it is 4.")
    expect(results.get_by_role("listitem").filter(has_text="count")).to_contain_text("2")
    graph = page.get_by_role("list", name="Nodes", exact=True)
    expect(graph.get_by_role("button", name="done: both")).to_be_visible()
    # Of two ways that join, the page does not know which was taken.
    expect(graph.get_by_role("button", name="few limit 1", exact=True)).to_be_visible()
    visitor.check_access()
    visitor.check_rules()


def test_a_run_that_failed_is_in_the_inbox_until_it_was_seen(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    nodes = [
        {"id": "rows", "type": "python", "config": {"code": "keep['rows'] = 1 / 0"}},
        {"id": "check", "type": "approve", "config": {"text": "Is it right?"}},
    ]
    edges = [{"from": "rows", "to": "check"}]
    saved = visitor.call("POST", "/workflows", data={"name": "Nightly", "nodes": nodes, "edges": edges})
    visitor.open("/inbox")
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    # It comes by itself, as one that a schedule began.
    visitor.call("POST", f"/workflows/{saved['id']}/run", data={"by_node": True})
    failed = page.get_by_role("list", name="Runs of workflows to look at").get_by_role("listitem")
    expect(failed.get_by_role("link", name="Nightly", exact=True)).to_be_visible()
    expect(failed).to_contain_text("rows: ")
    expect(failed).to_contain_text("failed")
    expect(page.get_by_role("heading", name="Waits for you (1)")).to_be_visible()
    places = page.get_by_role("navigation", name="Main")
    expect(places.get_by_role("link", name="Inbox 1 open item", exact=True)).to_be_visible()
    visitor.check_access()
    failed.get_by_role("button", name="Mark as seen: Nightly").click()
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    expect(places.get_by_role("link", name="Inbox", exact=True)).to_be_visible()

    # Beside every screen, also where another client has seen the run.
    visitor.open("/data")
    started = visitor.call("POST", f"/workflows/{saved['id']}/run", data={"by_node": True})
    expect(places.get_by_role("link", name="Inbox 1 open item", exact=True)).to_be_visible()
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    expect(places.get_by_role("link", name="More 1 open item", exact=True)).to_be_visible()
    visitor.check_access()
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    visitor.call("POST", f"/workflow-runs/{started['id']}/seen")
    expect(places.get_by_role("link", name="Inbox", exact=True)).to_be_visible()

    visitor.call("POST", f"/workflows/{saved['id']}/run", data={"by_node": True})
    visitor.open("/inbox")
    expect(failed).to_be_visible()
    visitor.open("/")
    expect(page.get_by_role("heading", name="Needs you (1)")).to_be_visible()
    with page.expect_response(lambda response: response.url.endswith("/seen")):
        page.get_by_role("main").get_by_role("link", name="Nightly", exact=True).click()
    expect(page.get_by_role("list", name="Nodes of the run")).to_contain_text("rows")
    visitor.open("/inbox")
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    visitor.check_rules()


def test_a_secret_is_saved_by_its_name_and_never_shown(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    visitor.open("/account")
    panel = page.get_by_role("region", name="Secrets of workflows")

    panel.get_by_label("Name").fill("ops")
    panel.get_by_label("Value").fill("https://hooks.example.com/abc")
    panel.get_by_role("button", name="Save it").click()
    saved = panel.get_by_role("list", name="Secrets")
    expect(saved).to_contain_text("ops")
    assert "hooks.example.com" not in page.content()
    visitor.check_access()
    saved.get_by_role("button", name="Delete ops").click()
    page.get_by_role("button", name="Delete the secret").click()
    expect(panel).to_contain_text("None.")
    visitor.check_rules()


def test_a_long_list_shows_its_next_page_when_it_is_asked_for(visit: Any) -> None:
    visitor: Visit = visit()
    page = visitor.page
    node = {"id": "calls", "type": "trigger", "config": {"kind": "webhook"}}
    reads: list[str] = []
    page.on("request", lambda request: "/api/v1/workflows?" in request.url and reads.append(request.url))
    for number in range(53):
        visitor.call("POST", "/workflows", data={"name": f"Workflow {number}", "nodes": [node], "edges": []})
    visitor.open("/workflows")

    lines = page.get_by_role("list", name="Workflows").get_by_role("listitem")
    expect(lines).to_have_count(50)
    expect(lines.first).to_contain_text("no runs")
    page.get_by_role("button", name="Show more").click()
    expect(lines).to_have_count(53)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    # Once for itself and once when the stream begins, not again for what they bring.
    assert len(reads) <= 4, reads

    lines.last.scroll_into_view_if_needed()
    lines.last.get_by_role("link").click()
    expect(page.get_by_role("button", name="Run it")).to_be_visible()
    page.go_back()
    expect(lines).to_have_count(53)
    expect(lines.last).to_be_in_viewport()
    visitor.check_rules()


def test_hosts_of_requests_are_bounded_by_the_operator(visit: Any) -> None:
    visitor: Visit = visit()
    visitor.ignored = ["403"]
    page = visitor.page
    visitor.open("/account")
    panel = page.get_by_role("region", name="Hosts of requests")

    expect(panel).to_contain_text("allows no host")
    panel.get_by_label("Host").fill("api.example.com")
    panel.get_by_role("button", name="Allow it").click()
    expect(panel.get_by_role("alert")).to_contain_text("HTTP_ALLOWED_HOSTS")
    visitor.check_access()
    visitor.check_rules()


def test_a_long_error_is_shortened_beside_its_link_and_whole_on_the_screen_of_the_run(visit: Any) -> None:
    visitor: Visit = visit(PHONE)
    page = visitor.page
    code = "raise ValueError('There is no column ' + ' or '.join(f'column_{n}' for n in range(90)))"
    nodes: list[dict[str, Any]] = [{"id": "broken", "type": "python", "config": {"code": code}}]
    workflow = visitor.call("POST", "/workflows", data={"name": "Broken", "nodes": nodes, "edges": []})["id"]
    visitor.call("POST", f"/workflows/{workflow}/run", data={})
    visitor.open("/inbox")
    line = page.get_by_role("list", name="Runs of workflows to look at").get_by_role("listitem")
    expect(line.get_by_role("link")).to_have_text("Broken")
    expect(line).to_contain_text("There is no column column_0")
    expect(line).not_to_contain_text("column_40")
    visitor.check_width()
    visitor.check_access()
    line.get_by_role("link").click()
    # Once: a node whose error ends the run does not repeat it.
    expect(page.get_by_text("column_89")).to_have_count(1)
    visitor.check_access()
    visitor.check_rules()


def test_a_proposal_waits_in_the_inbox_until_it_is_decided(visit: Any) -> None:
    visitor = visit(PHONE)
    page = visitor.page
    nodes = [
        {"id": "rows", "type": "python", "config": {"code": "result = [{'price': n} for n in range(9)]"}},
        {"id": "best", "type": "top_k", "config": {"k": 5, "by": "price"}},
    ]
    body = {"name": "Best prices", "nodes": nodes, "edges": [{"from": "rows", "to": "best"}]}
    saved = visitor.call("POST", "/workflows", data=body)
    visitor.call("POST", f"/workflows/{saved['id']}/proposals", data={"message": "use 3 instead of 5"})
    visitor.open("/")
    expect(page.get_by_role("heading", name="Needs you (1)")).to_be_visible()
    waiting = page.get_by_role("list", name="Questions and proposals")
    expect(waiting).to_contain_text("change of a workflow")
    visitor.check_access()
    visitor.check_width()
    waiting.get_by_role("link", name="Best prices").click()
    expect(page.get_by_role("button", name="Reject")).to_be_visible()
    page.keyboard.press("d")
    expect(page.get_by_text('"op": "replace"')).to_be_visible()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("button", name="Reject")).to_have_count(0)
    page.get_by_role("link", name="Home").first.click()
    expect(page.get_by_role("heading", level=1, name="What shall the crew work on?")).to_be_visible()
    expect(waiting).to_have_count(0)
