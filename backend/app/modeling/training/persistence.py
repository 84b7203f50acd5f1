"""Storage of trained models as bytes, loaded only if all their types are trusted."""

import json
import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from zipfile import BadZipFile

import skops.io

from app.errors import InvalidInput
from app.modeling.facts.fits import CandidateFit
from app.modeling.training.ensemble.average import Model
from app.modeling.training.stored_types import TRUSTED, translate_type_names

_LIBRARIES = ("scikit-learn", "lightgbm", "xgboost-cpu", "pandas", "numpy", "skops")
FORMAT = 1
"""Version of the stored payload."""


@dataclass(frozen=True)
class StoredModel:
    """A fitted model with `metadata`, strict JSON: problem, schema, threshold, estimator, metrics, versions."""

    pipeline: Model
    metadata: dict[str, Any]

    @property
    def fit(self) -> CandidateFit:
        """The facts of the fit. Raises InvalidInput `bad_facts`."""
        return CandidateFit.from_json(self.metadata)


def library_versions() -> dict[str, str]:
    """Versions of Python and of the libraries that stored models depend on."""
    return {"python": platform.python_version()} | {name: version(name) for name in _LIBRARIES}


def serialize_model(model: StoredModel) -> bytes:
    """Serialize a model with skops."""
    payload = {
        "format": FORMAT,
        "pipeline": model.pipeline,
        "metadata": json.dumps(model.metadata, allow_nan=False),
    }
    return skops.io.dumps(payload)  # type: ignore[no-any-return]  # skops has no types


def deserialize_model(data: bytes) -> StoredModel:
    """Deserialize a model.

    Raises InvalidInput `untrusted_model` for a file with a type that is not trusted, `bad_model` for any other
    file that is no stored model.
    """
    try:
        data = translate_type_names(data)
        unknown = set(skops.io.get_untrusted_types(data=data)) - set(TRUSTED)
        if unknown:
            raise InvalidInput(
                "untrusted_model",
                f"The model file holds {', '.join(sorted(unknown))}, which is not a trusted type.",
                types=sorted(unknown),
            )
        payload = skops.io.loads(data, trusted=list(TRUSTED))
        return StoredModel(payload["pipeline"], json.loads(payload["metadata"]))
    except InvalidInput:
        raise
    except (BadZipFile, ValueError, KeyError, TypeError, OSError, ImportError) as error:
        raise InvalidInput("bad_model", f"This file is not a trained model: {error}.") from error
