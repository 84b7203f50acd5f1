"""One line for the terminal of `labcrew up` where the cells of this host lack isolation."""

import http.client
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

_PAUSE_S = 1.0
_PATIENCE_S = 3.0
"""Above the 2 s in which the API's own checks answer or give up."""


class _CellIsolation(BaseModel):
    status: str = ""


class _Readiness(BaseModel):
    """The members of GET /readyz that are read here; empty if the API does not answer."""

    untrusted_code: _CellIsolation = _CellIsolation()
    degraded: dict[str, str] = {}


class IsolationNotice:
    """Asks the API at the address `api` for its readiness until the cells have answered; tells at most once."""

    def __init__(self, api: str, tell: Callable[[str], object]) -> None:
        self._address = urlsplit(api)
        self._tell = tell
        self._due_at = 0.0
        self._is_over = False

    def look(self) -> None:
        if self._is_over or time.monotonic() < self._due_at:
            return
        readiness = self._readiness()
        self._is_over = readiness.untrusted_code.status in ("allowed", "refused")
        if self._is_over and (problem := readiness.degraded.get("cells")):
            self._tell(f"Cells: {problem}")
        self._due_at = time.monotonic() + _PAUSE_S

    def _readiness(self) -> _Readiness:
        connection = http.client.HTTPConnection(
            self._address.hostname or "", self._address.port, timeout=_PATIENCE_S
        )
        try:
            connection.request("GET", "/readyz")
            return _Readiness.model_validate_json(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValidationError):
            return _Readiness()
        finally:
            connection.close()
