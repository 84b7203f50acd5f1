"""Type names in stored models: the trusted types, and the present names of types that were renamed."""

import json
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from app.modeling.custom_code.state import TREE_TYPES

TRUSTED = (
    "app.modeling.estimators.encoder.Encoder",
    "app.modeling.estimators.encoding.numbers.Numbers",
    "app.modeling.estimators.encoding.text_vectorizer.TextVectorizer",
    "app.modeling.estimators.families.catboost.CatBoost",
    "app.modeling.estimators.families.network.Network",
    "app.modeling.training.ensemble.average.AveragedClassifier",
    "app.modeling.training.ensemble.average.AveragedRegressor",
    "app.modeling.training.ensemble.average.ByEntityClassifier",
    "app.modeling.training.ensemble.average.ByEntityRegressor",
    "app.modeling.estimators.families.lightgbm.LightGBM",
    "app.modeling.estimators.families.linear.Logistic",
    "app.modeling.estimators.families.linear.RidgePath",
    "app.modeling.estimators.families.log_target.LogTargetModel",
    "app.modeling.estimators.families.xgboost.XGBoost",
    "app.modeling.recipe.recipe.Recipe",
    "app.modeling.estimators.custom_estimator.CustomEstimator",
    *TREE_TYPES,
)
"""Trusted in addition to the types that skops itself trusts; a file with any other type is refused."""

RENAMED = {
    "app.modeling.encode.Encoder": "app.modeling.estimators.encoder.Encoder",
    "app.modeling.encoding.numbers.Numbers": "app.modeling.estimators.encoding.numbers.Numbers",
    "app.modeling.encoding.words.Words": "app.modeling.estimators.encoding.text_vectorizer.TextVectorizer",
    "app.modeling.estimators.encoding.words.TextVectorizer": (
        "app.modeling.estimators.encoding.text_vectorizer.TextVectorizer"
    ),
    "app.modeling.families.catboost.CatBoost": "app.modeling.estimators.families.catboost.CatBoost",
    "app.modeling.families.network.Network": "app.modeling.estimators.families.network.Network",
    "app.modeling.ensemble.average.AveragedClassifier": (
        "app.modeling.training.ensemble.average.AveragedClassifier"
    ),
    "app.modeling.ensemble.average.AveragedRegressor": (
        "app.modeling.training.ensemble.average.AveragedRegressor"
    ),
    "app.modeling.families.lightgbm.LightGBM": "app.modeling.estimators.families.lightgbm.LightGBM",
    "app.modeling.families.linear.Logistic": "app.modeling.estimators.families.linear.Logistic",
    "app.modeling.families.linear.RidgePath": "app.modeling.estimators.families.linear.RidgePath",
    "app.modeling.families.on_log.OnLog": "app.modeling.estimators.families.log_target.LogTargetModel",
    "app.modeling.estimators.families.on_log.OnLog": (
        "app.modeling.estimators.families.log_target.LogTargetModel"
    ),
    "app.modeling.families.xgboost.XGBoost": "app.modeling.estimators.families.xgboost.XGBoost",
    "app.modeling.recipe.Recipe": "app.modeling.recipe.recipe.Recipe",
    "app.modeling.written.estimator.WrittenEstimator": (
        "app.modeling.estimators.custom_estimator.CustomEstimator"
    ),
}
"""Old name -> present name of our types in stored models. Stored files are not rewritten."""

_SCHEMA = "schema.json"  # the member of a skops file that names the types


def translate_type_names(data: bytes) -> bytes:
    """Replace the old names of renamed types in a skops file; other files are returned unchanged.

    Raises BadZipFile, KeyError or ValueError for a file that skops did not write.
    """
    with ZipFile(BytesIO(data)) as archive:
        schema = archive.read(_SCHEMA)
        # Looked for in the bytes, since hardly any file is that old and parsing all of them costs time.
        if not any(_module_of(old).encode() in schema for old in RENAMED):
            return data
        members = {name: archive.read(name) for name in archive.namelist()}
    members[_SCHEMA] = json.dumps(_translate(json.loads(schema))).encode()
    translated = BytesIO()
    with ZipFile(translated, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return translated.getvalue()


def _translate(node: Any) -> Any:
    """Translate the type names in a part of a skops schema."""
    if isinstance(node, list):
        return [_translate(item) for item in node]
    if not isinstance(node, dict):
        return node
    new_name = RENAMED.get(f"{node.get('__module__')}.{node.get('__class__')}")
    translated = {key: _translate(value) for key, value in node.items()}
    if new_name:
        translated["__module__"], _, translated["__class__"] = new_name.rpartition(".")
    return translated


def _module_of(name: str) -> str:
    return name.rpartition(".")[0]
