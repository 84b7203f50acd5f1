"""The form of `expected.json`: what a client received from the service that wrote the backup."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.stored.client import Artifact, Client

Json = dict[str, Any]


def study(client: Client, session: str, dataset: str) -> Json:
    """A finished session: its report, its artifacts, and predictions of `dataset` by each of its models."""
    checked, mismatches = client.verification(session)
    assert checked, "the report has no claim"
    assert not mismatches, mismatches
    # Before anything is predicted: predictions of a table are artifacts of the session too.
    artifacts = digests(client.artifacts(session))
    return {
        "id": session,
        "dataset": dataset,
        "headline": client.headline(session),
        "checked_claims": checked,
        "steps": client.step_count(session),
        "artifacts": artifacts,
        "estimators": client.models(session),
        "predictions": {
            model: flattened(client.predict_dataset(model, dataset)) for model in client.models(session)
        },
    }


def digests(artifacts: Sequence[Artifact]) -> dict[str, str]:
    """SHA-256 by id."""
    return {artifact.id: artifact.digest for artifact in artifacts}


def flattened(predictions: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """The values of each prediction in their order, without their names: names of fields may change."""
    return [_values(prediction) for prediction in predictions]


def _values(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [leaf for item in value.values() for leaf in _values(item)]
    return [value]
