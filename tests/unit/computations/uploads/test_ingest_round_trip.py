"""Whatever frame is written, in whatever dialect and encoding, is read back."""

import csv
import io
import math
import tempfile
from datetime import datetime
from pathlib import Path
from string import ascii_letters
from typing import Any

import duckdb
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.column_types import TYPE_RULES
from app.computations.uploads.ingest import ingest
from app.modeling.type_inference.vocabulary import is_missing_word

DIALECTS = st.tuples(
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)


def is_a_word(text: str) -> bool:
    """No other reading is possible of it, and nothing that a text file cannot hold."""
    return text.strip() == text and not (
        is_missing_word(text) or any(rule.accepts(text) for rule in TYPE_RULES)
    )


# Eight-bit encodings are told apart by their share of foreign letters; these words look Western.
MARKS = st.characters(codec="cp1252", exclude_categories=("Cc", "Cs", "Zl", "Zp"))
WORDS = st.builds(
    str.__add__, st.text(ascii_letters, min_size=8, max_size=16), st.text(MARKS, max_size=3)
).filter(is_a_word)
COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "whole": st.integers(-(10**17), 10**17),
    "real": st.floats(allow_nan=False, allow_infinity=False, width=64),
    "word": WORDS,
    "moment": st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(
        lambda at: at.replace(microsecond=0)
    ),
    "flag": st.booleans(),
}
ROWS = st.lists(st.fixed_dictionaries(COLUMNS), min_size=1, max_size=25)


def spelled(value: Any, delimiter: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value).replace(".", ",") if delimiter == ";" else repr(value)
    return str(value)


def written(rows: list[dict[str, Any]], delimiter: str, newline: str, quoting: Any) -> str:
    target = io.StringIO()
    writer = csv.writer(target, delimiter=delimiter, lineterminator=newline, quoting=quoting)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([spelled(value, delimiter) for value in map(row.__getitem__, COLUMNS)])
    return target.getvalue()


def is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@settings(
    max_examples=20,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(rows=ROWS, dialect=DIALECTS)
def test_a_frame_survives_its_way_through_text(
    rows: list[dict[str, Any]], dialect: tuple[str, str, str, Any]
) -> None:
    delimiter, encoding, newline, quoting = dialect
    text = written(rows, delimiter, newline, quoting)
    # Western bytes that happen to be UTF-8 as well mean what UTF-8 makes of them, and nobody could tell.
    assume(text.isascii() or encoding != "cp1252" or not is_utf8(text.encode(encoding)))
    with tempfile.TemporaryDirectory() as name:
        upload, output = Path(name) / "upload", Path(name) / "out"
        output.mkdir()
        upload.write_bytes(text.encode(encoding))
        found = ingest(CellWorkspace({"upload": upload}, output), "frame.csv")
        back = duckdb.sql(f"FROM read_parquet('{output}/table.parquet')").fetchall()
    kinds = [column["type"] for column in found["columns"]]
    assert kinds[0] == "integer"
    assert kinds[2:] == ["text", "datetime", "boolean"]
    assert [column["name"] for column in found["columns"]] == list(COLUMNS)
    for row, (whole, real, *rest) in zip(rows, back, strict=True):
        assert whole == row["whole"]
        assert math.isclose(float(str(real).replace(",", ".")), row["real"], rel_tol=1e-15, abs_tol=5e-324)
        assert rest == [row["word"], row["moment"], row["flag"]]
