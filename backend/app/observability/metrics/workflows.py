"""Metrics of workflows: their ticks, runs, nodes and versions."""

from prometheus_client import Counter, Histogram

WORKFLOW_TICKS = Counter(
    "labcrew_workflow_ticks_total",
    "Ticks of schedules and intervals: begun, late (begun more than two minutes after their time), or skipped.",
    ("outcome",),
)
WORKFLOW_RUNS = Counter(
    "labcrew_workflow_runs_total", "Runs of workflows whose nodes have ended.", ("trigger", "outcome")
)
WORKFLOW_NODES = Counter(
    "labcrew_workflow_nodes_total", "Attempts of nodes that ended, by type of node.", ("type", "status")
)
WORKFLOW_NODE_SECONDS = Histogram(
    "labcrew_workflow_node_duration_seconds",
    "Time of an attempt of a node, without waiting for a person or a study.",
    ("type",),
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900),
)
WORKFLOW_RETRIES = Counter(
    "labcrew_workflow_retries_total", "Further attempts of nodes that had failed.", ("type",)
)
WORKFLOW_VERSIONS = Counter(
    "labcrew_workflow_versions_total", "Versions of workflows that were saved, by author.", ("author",)
)
