"""SQL over price bars. Series are reached only through `VISIBLE` or `OWN`, which check their owner."""

VISIBLE = """
    SELECT DISTINCT ON (coin, interval_s) id, coin, interval_s, bars, first_at AS first, last_at AS last,
           summary::text AS summary, owner_id IS NULL AS is_shared
    FROM price_series WHERE owner_id = $1 OR owner_id IS NULL
    ORDER BY coin, interval_s, owner_id NULLS LAST
"""
"""Series that a user sees; of a coin and interval that is also shared, the user's own."""

OWN = """
    SELECT id, first_at FROM price_series
    WHERE owner_id IS NOT DISTINCT FROM $1 AND coin = $2 AND interval_s = $3
    FOR UPDATE
"""
"""Locks the row, so that a deletion of the series waits for the import and includes its bars."""
BEGIN_SERIES = """
    INSERT INTO price_series (owner_id, coin, interval_s, bars, first_at, last_at, summary)
    VALUES ($1, $2, $3, 0, $4, $4, '{}') RETURNING id
"""
"""Invisible to others until `UPDATE_SERIES` sets its contents in the same transaction."""
UPDATE_SERIES = """
    UPDATE price_series SET bars = $2, first_at = $3, last_at = $4, summary = $5::jsonb, updated_at = now()
    WHERE id = $1
"""
DROP_SERIES = """
    DELETE FROM price_series
    WHERE owner_id IS NOT DISTINCT FROM $1 AND coin = $2 AND ($3::int IS NULL OR interval_s = $3)
    RETURNING bars
"""
LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))"

ANY_BETWEEN = "SELECT EXISTS (SELECT FROM price_bars WHERE series_id = $1 AND ts BETWEEN $2 AND $3)"

STAGING = "CREATE TEMP TABLE IF NOT EXISTS staged_bars (LIKE price_bars) ON COMMIT DROP"

# No other import writes this series while its owner's lock is held, so two plain statements make an upsert.
CHANGE = """
    UPDATE price_bars AS kept
    SET open = new.open, high = new.high, low = new.low, close = new.close, volume = new.volume
    FROM staged_bars AS new
    WHERE kept.series_id = $1 AND kept.ts BETWEEN $2 AND $3 AND kept.ts = new.ts
      AND (kept.open, kept.high, kept.low, kept.close, kept.volume)
          IS DISTINCT FROM (new.open, new.high, new.low, new.close, new.volume)
"""
ADD = """
    INSERT INTO price_bars SELECT new.* FROM staged_bars AS new
    LEFT JOIN price_bars AS kept ON kept.series_id = $1 AND kept.ts BETWEEN $2 AND $3 AND kept.ts = new.ts
    WHERE kept.ts IS NULL
"""

# The same counts as `computations/bars/coverage.py`. 345600: 1970-01-05 in seconds, the first Monday.
SUMMARY = """
    WITH bars AS (
      SELECT *, lag(at) OVER (ORDER BY at) AS before FROM (
        SELECT ts, date_part('epoch', ts) AS at, low, high, close, volume FROM price_bars
        WHERE series_id = $1 AND ts >= coalesce($3, '-infinity'::timestamptz)
          AND ts <= coalesce($4, 'infinity'::timestamptz)) AS taken
    ), steps AS (
      SELECT *, greatest(round((at - before) / $2::int) - 1, 0) AS lacking,
        floor((at - 345600) / 86400) AS day, floor((before - 345600) / 86400) AS day_before FROM bars
    ), counted AS (
      SELECT *, CASE WHEN day = day_before THEN lacking ELSE 0 END AS within,
        CASE WHEN day > day_before + 1 THEN
          floor(day / 7) * 5 + least(day - floor(day / 7) * 7, 5)
          - floor((day_before + 1) / 7) * 5 - least(day_before + 1 - floor((day_before + 1) / 7) * 7, 5)
        ELSE 0 END AS days FROM steps
    ), summed AS (
      SELECT count(*) AS bars, min(ts) AS first, max(ts) AS last, min(low) AS lowest, max(high) AS highest,
        avg(close) AS mean_close, stddev_samp(close) AS std_close, avg(volume) AS mean_volume,
        sum(volume) AS total_volume, count(*) FILTER (WHERE lacking > 0) AS gaps,
        coalesce(sum(lacking), 0)::bigint AS missing,
        count(*) FILTER (WHERE within > 0 OR days > 0) AS gaps_in_week,
        coalesce(sum(within), 0)::bigint AS missing_in_days, coalesce(sum(days), 0)::bigint AS missing_days,
        count(*) FILTER (WHERE day - floor(day / 7) * 7 >= 5) AS weekend FROM counted
    )
    SELECT *, (SELECT close FROM price_bars WHERE series_id = $1 AND ts = first) AS first_close,
      (SELECT close FROM price_bars WHERE series_id = $1 AND ts = last) AS last_close FROM summed
"""

BARS = """
    SELECT series_id, ts, open, high, low, close, volume FROM price_bars
    WHERE series_id = ANY($1::int[]) AND ts >= coalesce($2::timestamptz, '-infinity'::timestamptz)
      AND ts <= coalesce($3::timestamptz, 'infinity'::timestamptz)
    ORDER BY series_id, ts
"""
