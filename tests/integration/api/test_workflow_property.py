"""Nothing invalid is ever saved: random changes of random workflows, over the real API and Postgres.

Each saved version is judged by what does not validate it: the published JSON Schemas, the rules of graphs, and
the patch that is said to have made it. `FUZZ_EXAMPLES` has more sequences drawn.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any
from uuid import uuid4

import httpx
import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.patience import HANG_GUARD_S, wait_until

from app.settings import Settings
from app.workflows.document import WorkflowDocument
from app.workflows.patching import PatchOperation, apply_patch

from .conftest import PASSWORD, PREFIX
from .served import served
from .test_workflows import TABLE

# The server's thread may use `random` while a request is made up.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "10"))
Json = dict[str, Any]
DATASET = "the dataset"
"""Stands for its id, which no strategy knows."""
MADE = {"source": {"kind": "generate", "rows": 3, "columns": [{"name": "people", "type": "index"}]}}

ids = st.sampled_from(["a", "b", "c", "d", "a b", ""])
columns = st.sampled_from(["people", "city", "peple", ""])
small = st.integers(-1, 4)
sort_keys = st.fixed_dictionaries({"column": columns})
texts = st.one_of(st.sampled_from(["Go on?", "{{a.rows}}", "{{c.rows}}", ""]), st.text(max_size=5))
sources = st.sampled_from(
    [
        ("read_dataset", {"dataset_id": DATASET}),
        ("plan", {"plan": MADE}),
        ("read_dataset", {"dataset_id": str(uuid4())}),
        ("plan", {"plan": {}}),
        ("http_request", {"url": "http://10.0.0.1/x"}),
        ("trigger", {"kind": "schedule", "cron": "0 8 * * 1-5"}),
        ("trigger", {"kind": "schedule", "cron": "61 8 * * *"}),
        ("sql", {"sql": "SELECT 1 AS people"}),
    ]
)
steps = st.one_of(
    st.tuples(st.just("limit"), st.fixed_dictionaries({"rows": small})),
    st.tuples(st.just("top_k"), st.fixed_dictionaries({"k": small, "by": columns})),
    st.tuples(st.just("sort"), st.fixed_dictionaries({"keys": st.lists(sort_keys, max_size=2)})),
    st.tuples(st.just("approve"), st.fixed_dictionaries({"text": texts})),
    st.tuples(st.just("notify"), st.fixed_dictionaries({"channel": st.just("email"), "text": texts})),
    st.tuples(st.just("union"), st.just({})),
    st.tuples(st.sampled_from(["limt", "limit"]), st.just({"rows": 1, "extra": 2})),
)
nodes = st.tuples(ids, st.one_of(sources, steps)).map(
    lambda drawn: {"id": drawn[0], "type": drawn[1][0], "config": drawn[1][1]}
)
conditions = st.sampled_from([{}, {}, {"condition": {"field": "rows", "op": ">", "value": 1}}])
edges = st.tuples(ids, ids, conditions).map(lambda drawn: {"from": drawn[0], "to": drawn[1], **drawn[2]})


@st.composite
def chains(draw: st.DrawFn) -> Json:
    """A source and the steps behind it: often valid, so that changes have something to begin with."""
    kinds = [draw(sources), *draw(st.lists(steps, max_size=3))]
    chain = [
        {"id": name, "type": kind, "config": config}
        for name, (kind, config) in zip("abcd", kinds, strict=False)
    ]
    return {
        "nodes": chain,
        "edges": [{"from": x["id"], "to": y["id"]} for x, y in pairwise(chain)],
    }


documents = st.one_of(
    chains(),
    st.fixed_dictionaries({"nodes": st.lists(nodes, max_size=4), "edges": st.lists(edges, max_size=4)}),
)
SOUND = {"nodes": [{"id": "a", "type": "plan", "config": {"plan": MADE}}], "edges": []}
"""A first version that is always saved."""
paths = st.sampled_from(
    [
        *("/nodes/-", "/nodes/0", "/nodes/1", "/nodes/@a", "/nodes/@b", "/edges/-", "/edges/0", "/nodes", ""),
        *(
            "/nodes/@b/config",
            "/nodes/@b/config/rows",
            "/nodes/0/id",
            "/nodes/@a/type",
            "/edges/0/to",
            "/edges/0/condition",
        ),
    ]
)
values = st.one_of(nodes, edges, small, st.sampled_from([None, "limit", "a", [], {}]), documents)
operations = st.one_of(
    st.fixed_dictionaries({"op": st.sampled_from(["add", "replace", "test"]), "path": paths, "value": values}),
    st.fixed_dictionaries({"op": st.just("remove"), "path": paths}),
    st.fixed_dictionaries({"op": st.sampled_from(["move", "copy"]), "from": paths, "path": paths}),
)
grown = st.tuples(st.sampled_from(["b", "c"]), steps).map(
    lambda drawn: [
        {
            "op": "add",
            "path": "/nodes/-",
            "value": {"id": drawn[0], "type": drawn[1][0], "config": drawn[1][1]},
        },
        {"op": "add", "path": "/edges/-", "value": {"from": "a", "to": drawn[0]}},
    ]
)
"""A step behind the first one: valid where there is none of its name yet."""
patches = st.one_of(st.lists(operations, min_size=1, max_size=3), grown)
imports = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["plan", "limit", "sql"]),
            "config": st.sampled_from([{"plan": MADE}, {"rows": 1}]),
        },
        optional={"name": ids, "inputs": st.lists(ids, max_size=2)},
    ),
    min_size=1,
    max_size=3,
)
changes = st.one_of(
    st.tuples(st.just("put"), documents),
    st.tuples(st.just("patch"), patches),
    st.tuples(st.just("propose"), patches),
    st.tuples(st.just("restore"), st.integers(1, 4)),
    st.tuples(st.just("create"), documents),
    st.tuples(st.just("import"), imports),
)


@dataclass(frozen=True)
class Editor:
    """A user with a dataset. `schemas`: of the configurations of nodes, with their least and most inputs."""

    http: httpx.Client
    dataset: str
    schemas: dict[str, Json]

    def place(self, value: Any) -> Any:
        """Put the dataset's id where it stands for it."""
        if isinstance(value, dict):
            return {name: self.place(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.place(item) for item in value]
        return self.dataset if value == DATASET else value

    def send(self, path: str, kind: str, content: Any) -> httpx.Response:
        match kind:
            case "put":
                return self.http.put(path, json=content)
            case "patch":
                return self.http.post(f"{path}/patch", json={"operations": content})
            case "propose":
                return self.http.post(f"{path}/proposals", json={"operations": content, "save": True})
            case "restore":
                return self.http.post(f"{path}/restore", json={"to": content})
            case "create":
                return self.http.post("/workflows", json={"name": "other", **content})
            case _:
                return self.http.post("/workflows", json={"name": "imported", "steps": content})

    def check(self, document: Json) -> None:
        """Judge a saved document by the published schemas and by the rules of graphs."""
        names = [node["id"] for node in document["nodes"]]
        assert names, "a workflow has nodes"
        assert len({*names}) == len(names), document
        inputs: dict[str, list[str]] = {name: [] for name in names}
        for edge in document["edges"]:
            assert edge["from"] in names, document
            inputs[edge["to"]].append(edge["from"])
        list(TopologicalSorter(inputs).static_order())
        for node in document["nodes"]:
            kind = self.schemas[node["type"]]
            jsonschema.validate(node["config"], kind["config"])
            assert kind["min_inputs"] <= len(inputs[node["id"]]) <= kind["max_inputs"], node
        checked = self.http.post("/workflows/validate", json=document).json()
        assert checked["is_valid"], checked


@pytest.fixture
def editor(settings: Settings) -> Iterator[Editor]:
    quick = {"address_requests": "", "user_requests": "", "user_uploads": "", "user_sessions": 0}
    with served(settings.model_copy(update=quick)) as url, httpx.Client(timeout=HANG_GUARD_S) as http:
        wait_until(lambda: _answers(url), every_s=0.05)
        http.base_url = httpx.URL(f"{url}{PREFIX}")
        account = {"email": f"{uuid4().hex}@example.com", "password": PASSWORD}
        http.post("/auth/register", json=account).raise_for_status()
        token = http.post("/auth/token", json=account).json()["access_token"]
        http.headers["Authorization"] = f"Bearer {token}"
        uploaded = http.post("/datasets", files={"file": ("cities.csv", TABLE)}).json()
        schemas = {kind["type"]: kind for kind in http.get("/workflow-schema").json()}
        yield Editor(http, uploaded["id"], schemas)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=HANG_GUARD_S).is_success
    except httpx.TransportError:
        return False


@given(first=documents, drawn=st.lists(changes, min_size=1, max_size=6))
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES <= 10,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
def test_nothing_invalid_is_ever_saved(editor: Editor, first: Json, drawn: list[tuple[str, Any]]) -> None:
    saved = editor.http.post("/workflows", json={"name": "drawn", **editor.place(first)})
    if not saved.is_success:
        saved = editor.http.post("/workflows", json={"name": "drawn", **SOUND})
    path = f"/workflows/{saved.json()['id']}"
    version, kept = 1, [saved.json()["document"]]
    editor.check(kept[0])
    for kind, content in drawn:
        answer = editor.send(path, kind, editor.place(content))
        assert answer.status_code < 500, answer.text
        if kind in ("create", "import"):
            if answer.is_success:
                editor.check(answer.json()["document"])
            continue
        now = editor.http.get(path).json()
        version += answer.is_success
        assert now["version"] == version, (kind, content, answer.text)
        if answer.is_success:
            kept.append(now["document"])
            editor.check(now["document"])
    # Every version is what it was when it was saved, and what its patch makes of the one before.
    for entry in editor.http.get(f"{path}/versions").json():
        number = entry["version"]
        stored = editor.http.get(f"{path}/versions/{number}").json()["document"]
        assert stored == kept[number - 1]
        if entry["patch"] is not None:
            applied = [PatchOperation.model_validate(operation) for operation in entry["patch"]]
            before = WorkflowDocument.model_validate(kept[number - 2])
            assert apply_patch(before, applied) == WorkflowDocument.model_validate(stored)
