"""Random trees of turns: the workspace at each head is that of a straight run of the same messages.

They are drawn by the seed `LABCREW_TURN_SEED`: 1 in `make test`, another one in each `make fuzz`.
`LABCREW_TURN_TREES` has more trees drawn.
"""

import os
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from .conftest import User
from .test_threads import ask, dataset  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("worker")

TURNS = 6
"""Turns of a tree, of which two heads are run again (all of them with LABCREW_TURN_TREES): ten seconds."""
STEPS = (
    "SQL: create or replace table t as select city, people + {n} as people from dataset.cities",
    "SQL: update t set people = {n} where city = 'Bern'",
    "SQL: insert into t select * from t where people > {n}",
    "SQL: alter table frame add column extra integer",
    "SQL: drop table t",
    "PYTHON: a = b = [{n}]\nc = {{'in': a, 'other': [{n}]}}",
    "PYTHON: b.append({n})\nc['more'] = c",
    "PYTHON: a = list(a)",
    "PYTHON: frame = t.assign(draw=np.random.rand(len(t)))\nalias = frame",
    "PYTHON: frame['z{n}'] = {n}\nalias.loc[0, 'people'] = -{n}",
    "PYTHON: x = np.arange({n})\ny = x\nview = x[1:]\nlines = (line for line in 'a')",
    "PYTHON: x[0] = {n}\ndel view",
    "PYTHON: def scale(value, by={n}):\n    return value * by + len(a)\nd = scale(2)",
    "PYTHON: d = scale(d)",
    "PYTHON: open('f.txt', 'w').write('{n}')",
    "PYTHON: text = open('f.txt').read()",
    "PYTHON: del c",
    "write n{n}.md: text {n}",
)
PROBE = """PYTHON:
def same(first, second):
    return first is second
values = dict({values})
frames = [name for name in sorted(values) if isinstance(values[name], pd.DataFrame)]
kept = sorted(values)
result = [
    [(p, q) for p in kept for q in kept if p < q and same(values[p], values[q])],
    [(name, values[name].to_csv()) for name in frames],
    [(name, repr(values[name])) for name in kept if not callable(values[name]) and name not in frames],
]
"""


Send = Callable[..., Awaitable[dict[str, Any]]]
"""Sends a message of a user, and returns its turn when that has ended."""


@dataclass
class Node:
    """A message of a tree, after the node `parent`. `turn`, `worldline`: where it was sent."""

    message: str
    parent: "Node | None"
    turn: dict[str, Any] = field(default_factory=dict)
    is_head: bool = True

    def path(self) -> list["Node"]:
        return [*(self.parent.path() if self.parent else []), self]


def draw_tree(chance: random.Random) -> list[Node]:
    nodes: list[Node] = []
    for place in range(TURNS):
        # A random parent gives bushes; half of the turns go on from the last one.
        parent = None if not place else nodes[-1] if chance.random() < 0.6 else chance.choice(nodes)
        step = chance.choice(STEPS) if place else STEPS[5]
        nodes.append(Node(step.format(n=chance.randint(2, 9)), parent))
        if parent:
            parent.is_head = False
    return nodes


async def describe(user: User, turn: dict[str, Any]) -> dict[str, Any]:
    """Describe a workspace: tables, files, variables, and what a program sees of these."""
    workspace = (await user.http.get(f"/worldlines/{turn['worldline_id']}/workspace")).json()
    entries = [*workspace["variables"], *workspace["tables"]]
    names = sorted({entry["name"] for entry in entries})
    values = ", ".join(f"{name}={name}" for name in names)
    probe = await ask(user, PROBE.format(values=values), worldline_id=turn["worldline_id"])
    assert probe["status"] == "succeeded", probe["failure"]
    tables = [{name: table[name] for name in ("name", "rows", "columns")} for table in workspace["tables"]]
    files = {
        entry["name"]: (await user.http.get(f"/artifacts/{entry['artifact']}")).text
        for entry in workspace["files"]
    }
    return {"variables": workspace["variables"], "tables": tables, "files": files, "seen": probe["text"]}


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    seed = int(os.environ.get("LABCREW_TURN_SEED") or 1)
    request.node.add_report_section("setup", "seed", f"LABCREW_TURN_SEED={seed}")
    return random.Random(seed)


async def test_the_workspace_at_each_head_is_that_of_a_straight_run(
    ada: User,
    dataset: str,  # noqa: F811
    chance: random.Random,
) -> None:
    is_thorough = "LABCREW_TURN_TREES" in os.environ
    for _ in range(int(os.environ.get("LABCREW_TURN_TREES") or 1)):
        nodes = draw_tree(chance)
        await grow(ada, dataset, nodes)
        heads = [node for node in nodes if node.is_head]
        for head in heads if is_thorough else chance.sample(heads, min(2, len(heads))):
            await compare_with_straight_run(ada, dataset, head)


async def compare_with_straight_run(user: User, dataset_id: str, head: Node) -> None:
    """Send the messages on the way to a head in a conversation of their own, and compare what that has."""
    path = [node.message for node in head.path()]
    straight = await ask(user, path[0], dataset_ids=[dataset_id])
    outcomes = [straight["status"]]
    for message in path[1:]:
        straight = await ask(user, message, thread_id=straight["thread_id"])
        outcomes.append(straight["status"])
    assert outcomes == [node.turn["status"] for node in head.path()], path
    assert await describe(user, straight) == await describe(user, head.turn), path


async def grow(user: User, dataset_id: str, nodes: list[Node], send: Send = ask) -> None:
    """Send the messages of a tree in the order in which they were drawn, each on a branch of its own."""
    for node in nodes:
        if node.parent is None:
            node.turn = await send(user, node.message, dataset_ids=[dataset_id])
            continue
        place = {"thread_id": node.parent.turn["thread_id"], "from_turn": node.parent.turn["turn_id"]}
        created = await user.http.post("/worldlines", json=place)
        assert created.status_code == 201, created.text
        node.turn = await send(user, node.message, worldline_id=created.json()["id"])
