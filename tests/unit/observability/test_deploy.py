"""The files that an operator deploys: every name in them is one that there is, every alert says what to do."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase

from app.observability.metrics.exposition import METRIC_MODULES

ROOT = Path(__file__).parents[3]
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
ALERTS = {rule["alert"]: rule for rule in RULES if "alert" in rule}
PANELS: list[dict[str, Any]] = json.loads((ROOT / "deploy/grafana/labcrew.json").read_text())["panels"]
DOCUMENTED = {
    name: (kind, tuple(filter(None, labels.split(", "))), says)
    for name, kind, labels, says in re.findall(
        r"^\| `(labcrew_\w+)` \| (\w+) \| [\w ]*\| ([\w, ]*?) ?\| (.*) \|$",
        (ROOT / "docs/observability.md").read_text(),
        re.MULTILINE,
    )
}
ALWAYS = {"job", "instance", "part", "le"}


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in RULES)
    yield from (target["expr"] for panel in PANELS for target in panel.get("targets", []))


def selectors(expression: str) -> Iterator[tuple[str, set[str]]]:
    """Every metric of ours in it, and the labels that it is selected by."""
    for name, inside in re.findall(r"\b(labcrew_\w+)(?:\{([^}]*)\})?", expression):
        shown = re.sub("_(bucket|sum|count)$", "", name)
        yield (shown if shown in DOCUMENTED else name), set(re.findall(r"(\w+)\s*[=!]", inside))


def test_the_page_has_every_metric_as_it_is() -> None:
    made = [one for kind in METRIC_MODULES for one in vars(kind).values() if isinstance(one, MetricWrapperBase)]
    assert len(made) > 30
    for one in made:
        name = one._name + ("_total" if one._type == "counter" else "")
        assert DOCUMENTED.get(name) == (one._type, tuple(one._labelnames), one._documentation), name


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_an_expression_asks_for_what_there_is(expression: str) -> None:
    grouped = {
        label
        for labels in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression)
        for label in re.split(r"[,\s]+", labels)
        if label
    }
    asked = dict(selectors(expression))
    known = {label for name in asked for label in DOCUMENTED[name][1]} | ALWAYS
    assert grouped <= known
    for name, labels in asked.items():
        assert labels <= {*DOCUMENTED[name][1], *ALWAYS}
    for rule in re.findall(r"labcrew:\w+", expression):
        assert rule in {one.get("record") for one in RULES}


def test_every_alert_has_a_summary_and_a_runbook() -> None:
    headings = re.findall(r"^### (Labcrew\w+)$", (ROOT / "docs/operations.md").read_text(), re.MULTILINE)
    assert sorted(headings) == sorted(ALERTS)
    for name, rule in ALERTS.items():
        assert rule["annotations"]["runbook"] == f"docs/operations.md#{name.lower()}"
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["labels"]["severity"] in {"page", "ticket"}


def test_the_dashboard_has_its_rows_and_a_unit_for_every_panel() -> None:
    rows = [panel["title"] for panel in PANELS if panel["type"] == "row"]
    assert rows == ["Sessions", "Crew", "Cells", "Edge", "Stores"]
    drawn = [panel for panel in PANELS if panel["type"] != "row"]
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    for panel in drawn:
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
    told = {name for panel in drawn for one in panel["targets"] for name, _ in selectors(one["expr"])}
    assert told == set(DOCUMENTED), "every metric has its place on the dashboard"


def test_every_severity_has_a_receiver_and_every_silenced_alert_exists() -> None:
    config = yaml.safe_load((ROOT / "deploy/alertmanager/alertmanager.yml").read_text())
    receivers = {receiver["name"] for receiver in config["receivers"]}
    route = config["route"]
    routes = {matcher: child["receiver"] for child in route["routes"] for matcher in child["matchers"]}
    assert {f'severity="{rule["labels"]["severity"]}"' for rule in ALERTS.values()} == set(routes)
    assert receivers == {route["receiver"], *routes.values()}
    for rule in config["inhibit_rules"]:
        for matcher in (*rule["source_matchers"], *rule["target_matchers"]):
            assert set(re.findall(r"Labcrew\w+", matcher)) <= set(ALERTS)


def test_prometheus_sends_alerts_to_the_alertmanager_of_the_compose_file() -> None:
    prometheus = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    [entry] = prometheus["alerting"]["alertmanagers"]
    host, port = entry["static_configs"][0]["targets"][0].split(":")
    assert services[host]["ports"][0].endswith(f":{port}")
    key_file = yaml.safe_load((ROOT / "deploy/alertmanager/alertmanager.yml").read_text())["receivers"][0]
    assert key_file["pagerduty_configs"][0]["routing_key_file"] in services[host]["entrypoint"][-1]
