"""Client of outgoing requests: it resolves a name once, connects to that address, and reads bounded answers."""

import asyncio
import logging
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any
from urllib.parse import urljoin
from uuid import UUID

import certifi
import httpx

from app.errors import Forbidden, InvalidInput, TooLarge, Unavailable
from app.workflows.requests.host_rules import Destination, HostRules, parse_url
from app.workflows.requests.passing import PassingFailure
from app.workflows.requests.withheld import WithheldSecret

MAX_REDIRECTS = 5
"""Redirects that are followed; each is checked again."""
MAX_ANSWER_BYTES = 10 << 20
"""Size of an answer, as sent and as decompressed."""
MAX_GZIP_MEMBERS = 100
"""Streams that follow each other in an answer (RFC 1952, 2.2): each further one copies what is behind it."""
_PASSING = frozenset({429, 502, 503, 504})
"""Statuses that may pass by themselves."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SHARED_HEADERS = frozenset({"accept", "accept-language", "content-type", "idempotency-key", "user-agent"})
"""Headers that a redirect to another origin takes along: they say what is sent and asked for."""

RUN_HEADER = "X-Labcrew-Run"
"""Header with the id of the run that sends a POST: a webhook of this service reads what led to the call."""

# Its lines hold whole URLs, and those may hold secrets.
logging.getLogger("httpx").setLevel(logging.WARNING)

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True)
class OutgoingRequest:
    """A request. `secret_headers` go to the first origin only, and no answer repeats the `secret` in them."""

    method: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    secret_headers: Mapping[str, str] = field(default_factory=dict)
    json_body: Any = None
    timeout_s: float = 30.0
    secret: WithheldSecret = field(default_factory=WithheldSecret)


@dataclass(frozen=True)
class ReceivedAnswer:
    """`url`: of the last redirect. `next_link`: the address of the next page in its Link header (RFC 8288)."""

    status: int
    media_type: str
    content: bytes
    url: str = ""
    next_link: str | None = None


async def resolve(host: str, port: int) -> Sequence[str]:
    """Resolve a name by the host's resolver. Raises PassingFailure."""
    try:
        found_addresses = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    # UnicodeError: the name has an empty part, or one of more than 63 letters.
    except (OSError, UnicodeError) as error:
        raise PassingFailure("host_unknown", f"The name {host} cannot be resolved.") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found_addresses))


class RequestClient:
    """Sends requests under the rules of one owner, on behalf of a run."""

    def __init__(
        self,
        rules: HostRules,
        resolver: Resolver = resolve,
        run_id: UUID | None = None,
    ) -> None:
        self._rules = rules
        self._run_id = run_id
        self._resolve = resolver

    async def send(self, request: OutgoingRequest) -> ReceivedAnswer:
        """Send a request once.

        Raises PassingFailure if the server does not answer in time, or may do later, Unavailable for any other
        error that it answers with, Forbidden for a host or address that is not allowed, TooLarge, InvalidInput
        for an answer that cannot be read.
        """
        try:
            async with asyncio.timeout(request.timeout_s):
                answer, wait_s = await self._follow(request)
        except TimeoutError as error:
            host = parse_url(request.url).host
            detail = f"{host} did not answer within {request.timeout_s:g} s."
            raise PassingFailure("request_timed_out", detail) from error
        if answer.status < 400:
            return _withhold(answer, request.secret)
        raise _error_status(answer, request, wait_s)

    async def _follow(self, request: OutgoingRequest) -> tuple[ReceivedAnswer, float]:
        current, first = request, self._rules.check_url(request.url)
        for _ in range(MAX_REDIRECTS + 1):
            # Each place of a chain of redirects, since the first host may be allowed and the next one not.
            destination = self._rules.check_url(current.url)
            address = self._rules.check_addresses(
                destination, await self._resolve(destination.host, destination.port)
            )
            is_first = destination.origin == first.origin
            headers = select_headers(current.headers, is_first) | (
                dict(current.secret_headers) if is_first else {}
            )
            headers = self._name_run(current.method, headers)
            answer, location, wait_s = await _exchange(current, destination, address, headers)
            if answer.status not in _REDIRECTS or location is None:
                return answer, wait_s
            current = _redirected(current, destination, answer.status, location)
        raise Forbidden("too_many_redirects", f"{first.host} redirects more than {MAX_REDIRECTS} times.")

    def _name_run(self, method: str, headers: Mapping[str, str]) -> dict[str, str]:
        """Return headers that name the run, whatever a node of it or a secret says there."""
        others = {name: value for name, value in headers.items() if name.lower() != RUN_HEADER.lower()}
        is_named = self._run_id is not None and method == "POST"
        return others | ({RUN_HEADER: str(self._run_id)} if is_named else {})


def _withhold(answer: ReceivedAnswer, secret: WithheldSecret) -> ReceivedAnswer:
    link = answer.next_link
    return replace(
        answer,
        content=secret.withhold(answer.content),
        url=secret.withhold_text(answer.url),
        next_link=None if link is None else secret.withhold_text(link),
    )


def select_headers(headers: Mapping[str, str], is_first_origin: bool) -> dict[str, str]:
    """Select the headers of the author for an origin. Any of them may hold a credential for the first."""
    return {
        name: value for name, value in headers.items() if is_first_origin or name.lower() in _SHARED_HEADERS
    }


def _redirected(request: OutgoingRequest, origin: Destination, status: int, location: str) -> OutgoingRequest:
    url = join_location(origin, location)
    # RFC 9110, 15.4: 303 asks by GET, and clients have always done so after 301 and 302.
    is_get = status == 303 or (status in (301, 302) and request.method == "POST")
    return replace(
        request,
        url=url,
        params={},
        method="GET" if is_get else request.method,
        json_body=None if is_get else request.json_body,
    )


def join_location(origin: Destination, location: str) -> str:
    """Return the URL that an answer leads to. Raises InvalidInput, Forbidden for one that is less secure."""
    try:
        url = urljoin(origin.url.geturl(), location)
    except ValueError:
        raise InvalidInput(
            "redirect_unreadable", f"{origin.host} redirects to an address that cannot be read."
        ) from None
    if origin.url.scheme == "https" and url.startswith("http:"):
        raise Forbidden("redirect_refused", f"{origin.host} redirects from https to http.")
    return url


@cache
def _load_certificates() -> ssl.SSLContext:
    """Load the known authorities once, those of the machine too: a load takes 50 ms of processor time."""
    context = ssl.create_default_context(cafile=certifi.where())
    context.load_default_certs()
    return context


async def _exchange(
    request: OutgoingRequest, destination: Destination, address: str, headers: Mapping[str, str]
) -> tuple[ReceivedAnswer, str | None, float]:
    """Send one request to one address.

    Returns the answer, the place that it redirects to, and the seconds that it asks to wait.
    """
    # No settings of the environment: a proxy or a .netrc of the host is none of a workflow's business.
    async with httpx.AsyncClient(
        verify=_load_certificates(), trust_env=False, timeout=request.timeout_s, follow_redirects=False
    ) as client:
        message = _build_message(client, request, destination, address, headers)
        try:
            response = await client.send(message, stream=True)
            try:
                content = await _read(response, destination.host)
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            raise PassingFailure(
                "request_failed", f"{destination.host} does not answer: {type(error).__name__}."
            ) from None
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    wait_s = _retry_after(response.headers.get("retry-after"))
    return (
        ReceivedAnswer(
            response.status_code,
            media_type,
            content,
            destination.url.geturl(),
            response.links.get("next", {}).get("url"),
        ),
        response.headers.get("location"),
        wait_s,
    )


def _build_message(
    client: httpx.AsyncClient,
    request: OutgoingRequest,
    destination: Destination,
    address: str,
    headers: Mapping[str, str],
) -> httpx.Request:
    """Raises InvalidInput for what HTTP cannot carry, without its text: it may be a secret."""
    for name, value in headers.items():
        if not (name.isascii() and value.isascii()):
            raise InvalidInput(
                "header_not_ascii", f"The header {name} has letters that no header can carry: ASCII only."
            )
    literal = f"[{address}]" if ":" in address else address
    host = destination.host if destination.is_default_port else f"{destination.host}:{destination.port}"
    sent_headers = {"Accept": "application/json", **headers, "Host": host, "Accept-Encoding": "gzip, identity"}
    try:
        # Connected to the address that was checked: a second resolution of the name could give another one.
        url = httpx.URL(request.url).copy_with(host=literal)
        return client.build_request(
            request.method,
            # `params` of a request of httpx would replace the query of its URL.
            url.copy_merge_params(dict(request.params)) if request.params else url,
            headers=sent_headers,
            json=request.json_body,
            # The certificate is checked against the name, not against the address.
            extensions={"sni_hostname": destination.host},
        )
    except (httpx.InvalidURL, ValueError):
        raise InvalidInput(
            "request_unwritable",
            f"The request to {destination.host} cannot be written: HTTP cannot carry its URL or its body.",
        ) from None


async def _read(response: httpx.Response, host: str) -> bytes:
    """Read an answer up to its bound, decompressed piece by piece. Raises TooLarge, InvalidInput."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise InvalidInput(
            "answer_unreadable", f"{host} answers with the encoding {encoding}, which is not read."
        )
    pieces: list[bytes] = []
    size = 0
    async for piece in _decoded(response.aiter_raw(), encoding, host):
        size += len(piece)
        if size > MAX_ANSWER_BYTES:
            raise _too_large(host)
        pieces.append(piece)
    return b"".join(pieces)


async def _decoded(pieces: AsyncIterator[bytes], encoding: str, host: str) -> AsyncIterator[bytes]:
    if encoding == "identity":
        async for piece in pieces:
            yield piece
        return
    unpacker, size = _Unpacker(host), 0
    async for piece in pieces:
        # Compressed bytes as well: those behind the end of the stream would be kept without a bound.
        size += len(piece)
        if size > MAX_ANSWER_BYTES:
            raise _too_large(host)
        for unpacked in unpacker.unpack(piece):
            yield unpacked
    # An answer without content has no stream that could end.
    if size and not unpacker.has_ended:
        raise _broken(host)


class _Unpacker:
    """Unpacks the gzip streams of an answer, which follow each other."""

    def __init__(self, host: str) -> None:
        self._host, self._members = host, 1
        self._stream = zlib.decompressobj(wbits=31)

    @property
    def has_ended(self) -> bool:
        return self._stream.eof

    def unpack(self, piece: bytes) -> Iterator[bytes]:
        """Yield the content of a piece. Raises TooLarge, InvalidInput."""
        rest = piece
        while rest:
            if self._stream.eof:
                self._begin_member()
            try:
                # One byte more than is allowed tells a bomb from an answer, and is all that is unpacked of it.
                yield self._stream.decompress(rest, MAX_ANSWER_BYTES + 1)
            except zlib.error:
                raise _broken(self._host) from None
            if self._stream.unconsumed_tail:
                raise _too_large(self._host)
            rest = self._stream.unused_data

    def _begin_member(self) -> None:
        self._members += 1
        if self._members > MAX_GZIP_MEMBERS:
            raise _broken(self._host)
        self._stream = zlib.decompressobj(wbits=31)


def _too_large(host: str) -> TooLarge:
    return TooLarge("answer_too_large", f"{host} answers with more than {MAX_ANSWER_BYTES >> 20} MiB.")


def _broken(host: str) -> InvalidInput:
    return InvalidInput("answer_unreadable", f"The compressed answer of {host} is broken.")


def _retry_after(text: str | None) -> float:
    """Read seconds or a date; 0 for neither."""
    if text is None:
        return 0.0
    seconds = text.strip()
    # Other scripts have digits too, which are no numbers here.
    if seconds.isascii() and seconds.isdigit():
        return float(seconds)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _error_status(answer: ReceivedAnswer, request: OutgoingRequest, wait_s: float) -> Unavailable:
    detail = f"{parse_url(request.url).host} answers with status {answer.status}."
    if answer.status in _PASSING:
        return PassingFailure("request_failed", detail, status=answer.status, wait_s=wait_s)
    return Unavailable("request_failed", detail, status=answer.status)
