"""Trained models as bytes, read back only if all their types are trusted."""

import json
import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from zipfile import BadZipFile

import skops.io

from app.errors import InvalidInput
from app.modeling.training.ensemble.average import Model
from app.modeling.training.stored_types import TRUSTED, with_present_names

_LIBRARIES = ("scikit-learn", "lightgbm", "xgboost-cpu", "pandas", "numpy", "skops")
FORMAT = 1


@dataclass(frozen=True)
class StoredModel:
    """`metadata`: strict JSON: problem, schema, threshold, estimator, metrics, versions."""

    pipeline: Model
    metadata: dict[str, Any]


def versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: version(name) for name in _LIBRARIES}


def dump(model: StoredModel) -> bytes:
    payload = {
        "format": FORMAT,
        "pipeline": model.pipeline,
        "metadata": json.dumps(model.metadata, allow_nan=False),
    }
    return skops.io.dumps(payload)  # type: ignore[no-any-return]  # skops has no types


def load(data: bytes) -> StoredModel:
    """Raises InvalidInput `untrusted_model` for a file with any other type, `bad_model` for no model at all."""
    try:
        data = with_present_names(data)
        unknown = set(skops.io.get_untrusted_types(data=data)) - set(TRUSTED)
        if unknown:
            raise InvalidInput(
                "untrusted_model",
                f"The model file holds {', '.join(sorted(unknown))}, which is no trusted type.",
                types=sorted(unknown),
            )
        payload = skops.io.loads(data, trusted=list(TRUSTED))
        return StoredModel(payload["pipeline"], json.loads(payload["metadata"]))
    except InvalidInput:
        raise
    except (BadZipFile, ValueError, KeyError, TypeError, OSError, ImportError) as error:
        raise InvalidInput("bad_model", f"This file is no trained model: {error}.") from error
