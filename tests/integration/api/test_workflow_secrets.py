"""Secrets are written and never read back, and hosts are bounded by the operator."""

from typing import Any

import pytest
from fastapi import FastAPI

from app.errors import LabError
from app.settings import Settings
from app.workflows.secrets.store import SecretStore

from .conftest import User


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"http_allowed_hosts": ("api.example.com", "*.example.org")})


async def test_a_secret_is_never_read_back(app: FastAPI, ada: User, eve: User) -> None:
    value = "hidden-value"
    written = await ada.http.put("/secrets/weather", json={"value": value})
    assert written.status_code == 200, written.text
    read = await ada.http.get("/secrets/weather")
    listed = await ada.http.get("/secrets")
    refused = await ada.http.put("/secrets/weather", json={"value": f"{value}\n"})
    assert [one["name"] for one in listed.json()] == ["weather"]
    assert refused.status_code == 422
    answers = written.text + read.text + listed.text + refused.text
    assert value not in answers
    assert (await eve.http.get("/secrets/weather")).status_code == 404

    store: SecretStore = app.state.resources.secrets
    assert await store.read(ada.id, "weather") == value
    stored = await store.db.rows("select * from secrets")
    trail = await store.db.rows("select * from audit where action like 'secret%'")
    assert value not in f"{[dict(row) for row in (*stored, *trail)]}"
    assert (await ada.http.delete("/secrets/weather")).status_code == 204
    assert (await ada.http.get("/secrets/weather")).json()["code"] == "secret_not_found"


async def test_secrets_follow_a_new_secret_key_and_need_a_known_one(app: FastAPI, ada: User) -> None:
    store: SecretStore = app.state.resources.secrets
    await store.put(ada.id, "token", "hidden")
    former = store.secret_keys()[0]
    new = SecretStore(store.db, lambda: ("n" * 32, former))
    assert await new.read(ada.id, "token") == "hidden"
    only_new = SecretStore(store.db, lambda: ("n" * 32,))
    assert await only_new.read(ada.id, "token") == "hidden"
    lost = SecretStore(store.db, lambda: ("x" * 32,))
    with pytest.raises(LabError) as refusal:
        await lost.check()
    assert refusal.value.code == "secrets_locked"
    assert await lost.forget_all() == 1
    await lost.check()


async def test_hosts_of_an_owner_are_some_of_the_operators(ada: User) -> None:
    hosts = ["api.example.com", "deep.example.org", "*.example.org"]
    listed = (await ada.http.put("/request-hosts", json={"hosts": hosts})).json()
    assert listed == {"hosts": sorted(hosts), "allowed": ["api.example.com", "*.example.org"]}
    for host, status in (("evil.example.net", 403), ("*.com", 403), ("http://x", 422)):
        assert (await ada.http.put("/request-hosts", json={"hosts": [host]})).status_code == status
    assert (await ada.http.get("/request-hosts")).json() == listed

    def sender(name: str, host: str) -> dict[str, Any]:
        return {"id": name, "type": "http_request", "config": {"url": f"https://{host}/x"}}

    nodes = [sender("a", "api.example.com"), sender("b", "deep.example.org"), sender("c", "API.example.com")]
    saved = await ada.http.post("/workflows", json={"name": "Hosts", "nodes": nodes, "edges": []})
    path = f"/workflows/{saved.json()['id']}/hosts"
    targets = (await ada.http.get(path)).json()
    assert [(target["name"], target["nodes"], target["code"]) for target in targets] == [
        ("api.example.com", ["a", "c"], None),
        ("deep.example.org", ["b"], None),
    ]
    await ada.http.put("/request-hosts", json={"hosts": ["api.example.com"]})
    assert [target["code"] for target in (await ada.http.get(path)).json()] == [None, "host_not_listed"]
