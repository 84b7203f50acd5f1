"""How large a request may be. Sizes in bytes."""

from app.api.router import PREFIX

BODY_BYTES = 1 << 20
PREDICT_BYTES = 16 << 20
_FORM_ROOM = 64 << 10
"""For the parts of a multipart form around its file."""


def larger_bodies(max_upload_bytes: int, max_prices_bytes: int) -> tuple[tuple[str, int], ...]:
    """Path patterns whose limit is not BODY_BYTES."""
    return (
        (f"{PREFIX}/datasets", max_upload_bytes + _FORM_ROOM),
        (f"{PREFIX}/prices/import", max_prices_bytes + _FORM_ROOM),
        (f"{PREFIX}/models/[^/]+/predict", PREDICT_BYTES),
    )
