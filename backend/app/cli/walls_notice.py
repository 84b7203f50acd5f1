"""One line for the terminal of `labcrew up` where the cells of this host lack their walls."""

import http.client
import json
import time
from collections.abc import Callable
from urllib.parse import urlsplit

_PAUSE_S = 1.0
_PATIENCE_S = 3.0
"""Above the 2 s in which the API's own checks answer or give up."""


class WallsNotice:
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
        self._is_over = readiness.get("untrusted_code", {}).get("status") in ("allowed", "refused")
        if self._is_over and (lack := readiness.get("degraded", {}).get("cells")):
            self._tell(f"Cells: {lack}")
        self._due_at = time.monotonic() + _PAUSE_S

    def _readiness(self) -> dict[str, dict[str, str]]:
        """The body of GET /readyz; empty where the API does not answer."""
        connection = http.client.HTTPConnection(
            self._address.hostname or "", self._address.port, timeout=_PATIENCE_S
        )
        try:
            connection.request("GET", "/readyz")
            readiness = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            return {}
        finally:
            connection.close()
        return readiness if isinstance(readiness, dict) else {}
