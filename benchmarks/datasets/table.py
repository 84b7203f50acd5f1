"""A table of five million rows and twelve columns, of the kinds that people send, as 500 MB of CSV."""

from pathlib import Path

import duckdb

ROWS = 5_000_000

# DuckDB's own hash is the same on every run; what is missing is an empty cell.
_CHANCE = "CREATE MACRO chance(i, k, most) AS (hash(i, k) % most)::BIGINT"
_COLUMNS = """
  i AS order_id,
  strftime(TIMESTAMP '2024-01-01' + INTERVAL (i) SECOND * 6, '%Y-%m-%d %H:%M:%S') AS ordered_at,
  ['Bern', 'Thun', 'Biel', 'Chur', 'Olten', 'Zug', 'Sion', 'Uster'][1 + chance(i, 1, 8)] AS town,
  ['card', 'cash', 'invoice', 'voucher'][1 + chance(i, 2, 4)] AS paid_by,
  'C' || lpad((chance(i, 3, 400000))::VARCHAR, 6, '0') AS customer,
  1 + chance(i, 4, 9) AS pieces,
  CASE WHEN chance(i, 5, 20) > 0 THEN round((chance(i, 6, 1000000)) / 1000.0, 3) END AS weight_kg,
  round((chance(i, 7, 10000000)) / 100.0, 2) AS price,
  round((chance(i, 8, 1000000)) / 1000000.0, 6) AS discount,
  chance(i, 9, 100000) AS stock,
  chance(i, 10, 3) = 0 AS returned,
  CASE WHEN chance(i, 11, 3) > 0 THEN 'packed by ' || chr((97 + chance(i, 12, 26))::INT) END AS remark
"""


def write_csv(path: Path, rows: int = ROWS) -> int:
    """The file's size in bytes."""
    with duckdb.connect(config={"threads": 2, "preserve_insertion_order": True}) as connection:
        connection.execute(_CHANCE)
        connection.execute(
            f"COPY (SELECT {_COLUMNS} FROM range({rows}) r (i)) TO '{path}' (FORMAT csv, HEADER)"
        )
    return path.stat().st_size
