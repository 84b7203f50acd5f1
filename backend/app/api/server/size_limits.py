"""Limits of request bodies, in bytes."""

from app.api.paths import PREFIX

MAX_BODY_BYTES = 1 << 20
"""JSON requests. The largest, a goal of 10,000 characters with 4,096 column types, stays below it."""
MAX_PREDICT_BYTES = 16 << 20
"""Rows to predict in one request, some hundred thousand cells; larger tables are uploaded as datasets."""
_FORM_OVERHEAD_BYTES = 64 << 10
"""Boundaries, headers and texts of a multipart form around its file."""


def larger_body_limits(max_upload_bytes: int, max_prices_bytes: int) -> tuple[tuple[str, int], ...]:
    """Return the path patterns with limits other than MAX_BODY_BYTES."""
    return (
        (f"{PREFIX}/datasets", max_upload_bytes + _FORM_OVERHEAD_BYTES),
        (f"{PREFIX}/uploads/[^/]+", max_upload_bytes),
        (f"{PREFIX}/prices/import", max_prices_bytes + _FORM_OVERHEAD_BYTES),
        (f"{PREFIX}/models/[^/]+/predict", MAX_PREDICT_BYTES),
    )
