"""Pages of an answer: each is a request in a recorded call, within bounds of number, bytes and time."""

import json
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from pydantic import BaseModel, ConfigDict

from app.counts import describe_count
from app.errors import InvalidInput, LabError, TooLarge, Unavailable
from app.json_types import JsonValue
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import Call, CallResult
from app.workflows.document import Node
from app.workflows.node_configs import MAX_PAGES, AnswerPages, HttpRequest
from app.workflows.requests.client import MAX_ANSWER_BYTES, OutgoingRequest, ReceivedAnswer, RequestClient
from app.workflows.requests.host_rules import parse_url
from app.workflows.requests.pages import follow_link, set_param
from app.workflows.runs.attempts import SendingTime, send_repeatedly
from app.workflows.runs.context import AGENT, RunContext

KEY_HEADER = "Idempotency-Key"
MAX_PAGES_BYTES = 4 * MAX_ANSWER_BYTES
"""Size of all pages: parsed they take about ten times as much, and a cell has 2 GiB."""


class NextPage(BaseModel):
    """The member of an answer that names a further page."""

    model_config = ConfigDict(extra="ignore")

    next_page: str | None = None


class _PageFacts(BaseModel):
    """The answer of `queries.records.inspect_page`."""

    model_config = ConfigDict(extra="forbid")

    records: int
    digest: str
    next: str | None
    next_page: str | None
    url: str
    link: str | None


class _StoredPage(BaseModel):
    """A page that was received. `answer`, `place`: digests of its text, and of its address and link as JSON.

    The journal has no address: one that a service makes may repeat a secret. `took_s`: seconds of the request.
    """

    model_config = ConfigDict(extra="forbid")

    answer: str
    size_bytes: int
    place: str
    took_s: float = 0.0


@dataclass
class ReadPages:
    """Digests of the pages in their order, and what is to be said about them."""

    digests: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class PageReader:
    """Reads the pages of one node. `first`: the request for the first one; `attempts`: of each page."""

    ctx: RunContext
    node: Node
    config: HttpRequest
    pages: AnswerPages
    client: RequestClient
    first: OutgoingRequest
    attempts: int

    async def read(self) -> ReadPages:
        """Read all pages. Raises what a request raises, and LabError that names the bound or the page."""
        result = ReadPages()
        # Counted anew in each drive, which reads the recorded pages again; a timer would begin after each wait.
        time = SendingTime(self.pages.timeout_s)
        try:
            await self._read_all(result, time)
        except TimeoutError as error:
            host, count = parse_url(self.first.url).host, describe_count(len(result.digests), "page")
            detail = f"{host} did not send all pages within {self.pages.timeout_s:g} s: {count} came."
            raise Unavailable("request_timed_out", detail) from error
        return result

    async def _read_all(self, result: ReadPages, time: SendingTime) -> None:
        request: OutgoingRequest | None = self.first
        if self.pages.by == "number":
            request = set_param(self.first, self.pages.param, self.pages.first)
        size, places = 0, set[str]()
        while request is not None:
            number = len(result.digests) + 1
            page = await self._fetch(number, request, time)
            if page is None:
                return
            time.spent_s += page.took_s
            result.digests.append(page.answer)
            size += page.size_bytes
            if size > MAX_PAGES_BYTES:
                detail = f"The first {number} pages have more than {MAX_PAGES_BYTES >> 20} MiB."
                raise TooLarge("answer_too_large", detail)
            try:
                request = await self._find_next(page, number, places, result)
            except LabError as error:
                raise _name_page(number, error) from error

    async def _fetch(self, number: int, request: OutgoingRequest, time: SendingTime) -> _StoredPage | None:
        """Fetch a page, in a recorded call. None where the pages have ended before it."""

        async def send(_: int) -> tuple[ReceivedAnswer, float]:
            return await time.bound(lambda: self.client.send(_with_own_key(request, number)))

        async def fetch() -> CallResult:
            try:
                (answer, took_s), _ = await send_repeatedly(
                    self.ctx, self.node, f"{self.node.id}:page:{number}", self.attempts, send, time
                )
            except LabError as error:
                if self._is_behind_last(number, error):
                    return CallResult(None, f"There is no page {number}.")
                raise _name_page(number, error) from error
            return CallResult(
                (await self._store(answer, took_s)).model_dump(mode="json"), f"Page {number} came."
            )

        request_facts: JsonValue = {"node": self.node.id, "page": number}
        call = Call(f"choice:{self.node.id}:page:{number}", "choice", "fetch_page", AGENT, request_facts)
        stored = await self.ctx.step.call(call, fetch)
        return None if stored is None else _StoredPage.model_validate(stored)

    def _is_behind_last(self, number: int, error: LabError) -> bool:
        """Check for the answer of a service that has no empty page behind its last one, only an error."""
        return self.pages.by == "number" and number > 1 and error.facts.get("status") == HTTPStatus.NOT_FOUND

    async def _store(self, answer: ReceivedAnswer, took_s: float) -> _StoredPage:
        place = json.dumps({"url": answer.url, "link": answer.next_link}).encode()
        put = self.ctx.services.frames.put
        content = await put(answer.content)
        return _StoredPage(
            answer=content.digest,
            size_bytes=len(answer.content),
            place=(await put(place)).digest,
            took_s=took_s,
        )

    async def _find_next(
        self, page: _StoredPage, number: int, places: set[str], result: ReadPages
    ) -> OutgoingRequest | None:
        """Return the request for the next page, None behind the last one."""
        facts = await self._inspect(page)
        place = self._find_place(facts, number)
        if place is None:
            # By number the table ends with a page without records, whatever its members say.
            if facts.next_page and self.pages.by != "number":
                result.notes.append(describe_next_page(facts.next_page, number))
            return None
        repeated = facts.digest if self.pages.by == "number" else place
        if repeated in places:
            # The end of some services: nothing more, and the last place again.
            if not facts.records:
                return None
            raise InvalidInput("pages_repeat", "It leads to a page that was read, so the pages do not end.")
        places.add(repeated)
        if number == self.pages.max_pages:
            result.notes.append(f"There are further pages: the table ends with page {number} (`max_pages`).")
            return None
        if number == MAX_PAGES:
            detail = f"There are more than {MAX_PAGES} pages. With `max_pages` the table ends at a page."
            raise TooLarge("too_many_pages", detail)
        if self.pages.by == "link":
            return follow_link(self.first, facts.url, place)
        return set_param(self.first, self.pages.param, place)

    def _find_place(self, facts: _PageFacts, number: int) -> str | None:
        if self.pages.by == "number":
            return str(self.pages.first + number * self.pages.step) if facts.records else None
        return facts.next if self.pages.next else facts.link

    async def _inspect(self, page: _StoredPage) -> _PageFacts:
        """Read where a page goes on, in a cell: its text comes from anywhere."""
        params: dict[str, JsonValue] = {"pointer": self.config.records, "next_pointer": self.pages.next}
        work = Computation("queries.records.inspect_page", params)
        inputs = {"answer": page.answer, "place": page.place}
        return _PageFacts.model_validate((await self.ctx.services.computer.run(work, inputs)).value)


def describe_next_page(name: str, count: int = 1) -> str:
    """Describe that an answer goes on behind what was read of it. `name`: the member that says so."""
    pages = "its first page" if count == 1 else f"its first {count} pages"
    return (
        f"The answer has further pages (`{name}`), and this table is {pages} only. Say in `pages` of the "
        "request where the next one is."
    )


def _with_own_key(request: OutgoingRequest, number: int) -> OutgoingRequest:
    """Give each page a key of its own: by the same one a service would repeat its first answer."""
    key = request.headers.get(KEY_HEADER)
    if key is None or number == 1:
        return request
    return replace(request, headers={**request.headers, KEY_HEADER: f"{key}:{number}"})


def _name_page(number: int, error: LabError) -> LabError:
    """Return an error that names the page, behind the first."""
    return error if number == 1 else type(error)(error.code, f"Page {number}: {error.detail}", **error.facts)
