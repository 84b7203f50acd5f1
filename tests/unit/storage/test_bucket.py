from dataclasses import replace

import pytest

from app.errors import LabError, Unavailable
from app.storage.blobs import StoreUnavailable
from app.storage.bucket import Bucket, bucket_error, parse_address

BUCKET = Bucket("lab", "crew", "http://store:9000", None, "key", "secret")


@pytest.mark.parametrize(
    ("address", "name", "prefix"),
    [
        ("s3://lab", "lab", ""),
        ("s3://lab/", "lab", ""),
        ("s3://lab.of.ada/a/b-c/", "lab.of.ada", "a/b-c"),
    ],
)
def test_an_address_is_a_bucket_and_a_prefix(address: str, name: str, prefix: str) -> None:
    assert parse_address(address) == (name, prefix)


@pytest.mark.parametrize(
    "address",
    [
        "lab",
        "s3://",
        "s3://La",
        "s3://key:secret@lab",
        "s3://lab?x=1",
        "s3://lab/a//b",
        "s3://lab/../b",
        "s3://lab/a b",
    ],
)
def test_any_other_address_is_refused_without_being_repeated(address: str) -> None:
    with pytest.raises(ValueError, match=r"must|3 to 63") as refused:
        parse_address(address)
    assert "secret" not in str(refused.value)


def said(status: str, code: str = "") -> str:
    body = f"<Code>{code}</Code>" if code else ""
    return f"Error performing PUT http://store in 7ms - Server returned non-2xx status code: {status}: {body}"


@pytest.mark.parametrize(
    ("error", "kind", "code", "shows"),
    [
        (
            OSError(said("403 Forbidden", "SignatureDoesNotMatch")),
            Unavailable,
            "blob_store_denied",
            "SignatureD",
        ),
        (OSError(said("403 Forbidden")), Unavailable, "blob_store_denied", "403"),
        (
            FileNotFoundError(said("404 Not Found", "NoSuchBucket")),
            Unavailable,
            "blob_store_missing",
            "s3://lab/crew",
        ),
        (
            OSError(said("400 Bad Request", "InvalidArgument")),
            Unavailable,
            "blob_store_refused",
            "InvalidArgument",
        ),
        (OSError(said("503 Slow Down", "SlowDown")), StoreUnavailable, "blob_store_away", "SlowDown"),
        (OSError(said("429 Too Many Requests")), StoreUnavailable, "blob_store_away", "429"),
        (
            OSError("HTTP error: error sending request"),
            StoreUnavailable,
            "blob_store_away",
            "http://store:9000",
        ),
    ],
)
def test_errors_of_a_store_are_translated_to_instructions(
    error: Exception, kind: type[LabError], code: str, shows: str
) -> None:
    found = bucket_error(error, BUCKET)
    assert found is not None
    assert (type(found), found.code) == (kind, code)
    assert shows in found.detail
    assert "secret" not in found.detail


def test_a_missing_object_is_no_store_error() -> None:
    assert bucket_error(FileNotFoundError(said("404 Not Found", "NoSuchKey")), BUCKET) is None
    assert bucket_error(FileNotFoundError(said("404 Not Found")), replace(BUCKET, endpoint=None)) is None
