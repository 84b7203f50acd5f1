"""Where each file lies in the archive: inside it, once, and never over another."""

import pytest

from app.reporting.session_bundle import GENERATED_FILES, BundleFile, bundle_layout, safe_file_name


def piece(kind: str, name: str, digest: str = "a") -> BundleFile:
    return BundleFile(kind, name, digest, 1, "text/plain", {})


@pytest.mark.parametrize("name", ["../../etc/passwd", "/root", "..", "", ".", "a\x00b", "C:\\x", "é" * 300])
def test_paths_of_any_name_stay_inside_the_archive(name: str) -> None:
    (path,) = bundle_layout([piece("file", name)])

    assert path.startswith("files/")
    assert path.count("/") == 1
    assert safe_file_name(name).isascii()
    assert not safe_file_name(name).startswith(".")


def test_the_newest_artifact_of_a_name_is_bundled_and_similar_names_stay_distinct() -> None:
    placed = bundle_layout(
        [piece("model", "XGBoost", "old"), piece("model", "XGBoost", "new"), piece("model", "xgboost", "b")]
    )

    assert {path: each.digest for path, each in placed.items()} == {
        "models/XGBoost.skops": "new",
        "models/xgboost-2.skops": "b",
    }


def test_equal_data_is_bundled_once_under_the_first_name() -> None:
    placed = bundle_layout([piece("dataset", "titanic"), piece("frame", "data"), piece("frame", "train", "b")])

    assert list(placed) == ["data/titanic.parquet", "data/train.parquet"]


@pytest.mark.parametrize("name", GENERATED_FILES)
def test_an_artifact_does_not_replace_a_generated_file(name: str) -> None:
    assert list(bundle_layout([piece("notebook", name)])) != [name]
