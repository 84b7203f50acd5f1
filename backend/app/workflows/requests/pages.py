"""Requests for the further pages of an answer."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.workflows.requests.client import OutgoingRequest, join_location, select_headers
from app.workflows.requests.host_rules import parse_url


def follow_link(request: OutgoingRequest, url: str, link: str) -> OutgoingRequest:
    """Return the request for the page that an answer from `url` links to, as for a redirect.

    The rules of hosts apply when it is sent. To another origin than that of `request` it takes no secret.
    """
    target = join_location(parse_url(url), link)
    is_first = parse_url(target).origin == parse_url(request.url).origin
    # The service put its own secret into the address: it gets that back, and nobody else does.
    target = request.secret.restore(target) if is_first else target
    return replace(
        request,
        url=target,
        params={},
        headers=select_headers(request.headers, is_first),
        secret_headers=request.secret_headers if is_first else {},
    )


def set_param(request: OutgoingRequest, name: str, value: str | int) -> OutgoingRequest:
    """Return a request with a parameter: in the JSON of a POST that has an object, else in the URL."""
    if request.method == "POST" and isinstance(request.json_body, Mapping):
        body: Mapping[str, Any] = request.json_body
        return replace(request, json_body={**body, name: value})
    return replace(request, params={**request.params, name: str(value)})
