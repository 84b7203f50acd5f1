"""Hosts that each owner lets requests of workflows go to, in Postgres."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import StringConstraints

from app.db.pool import Database
from app.errors import Forbidden
from app.workflows.requests.host_rules import HostRules, parse_url
from app.workflows.statements import SECRETS

MAX_HOSTS = 200
"""Hosts of an owner."""
Host = Annotated[str, StringConstraints(min_length=1, max_length=300)]


@dataclass(frozen=True)
class RequestHosts:
    """Hosts of owners. `operator`: the patterns of HTTP_ALLOWED_HOSTS."""

    db: Database
    operator: Sequence[str]

    async def list_hosts(self, owner: UUID) -> list[str]:
        return [str(host) for host in await self.db.column(SECRETS.list_hosts, owner)]

    async def rules_of(self, owner: UUID) -> HostRules:
        return HostRules(self.operator, await self.list_hosts(owner))

    async def replace(self, owner: UUID, hosts: Sequence[str]) -> list[str]:
        """Raises Forbidden for a host that HTTP_ALLOWED_HOSTS does not have."""
        rules = HostRules(self.operator, hosts)
        for host in hosts:
            if host not in self.operator:
                # A pattern is no URL that could be checked: it has to stand in the operator's list as it is.
                if host.startswith("*."):
                    raise Forbidden("host_not_allowed", f"{host} is not in HTTP_ALLOWED_HOSTS.", host=host)
                rules.check_url(parse_url(f"http://{host}/").url.geturl())
        await self.db.value(SECRETS.replace_hosts, owner, list(hosts))
        return await self.list_hosts(owner)
