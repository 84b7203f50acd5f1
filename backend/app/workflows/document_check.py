"""Validation of a document against what its owner has: datasets and their columns."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from pydantic import BaseModel

from app.artifacts.models import ModelRepository, list_models
from app.datasets.dataset_names import make_dataset_name
from app.datasets.dataset_source import DatasetRef
from app.datasets.session_datasets import SessionDatasets
from app.db.keyset import PageRequest
from app.db.tables import UserRow
from app.db.unit_of_work import OpenUnitOfWork
from app.errors import InvalidInput, LabError, NotFound
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema, read_table_schema
from app.workflows.document import Node, WorkflowDocument
from app.workflows.faults import WorkflowFault
from app.workflows.fusion import Tables, dataset_ids, find_item_faults, judge_columns, make_plans, parse
from app.workflows.item_documents import list_placed_nodes
from app.workflows.named_values import find_value_faults
from app.workflows.node_configs import HttpRequest, Notify, Predict, ReadDataset, Store, Trigger
from app.workflows.node_limits import find_limit_faults
from app.workflows.phrases.work_steps import KnownModel
from app.workflows.requests.allowed_hosts import RequestHosts
from app.workflows.requests.host_rules import HostRules
from app.workflows.requests.mail_config import MailConfig
from app.workflows.result_check import find_result_faults
from app.workflows.secrets.store import SecretStore, make_unknown_secret_error
from app.workflows.validation import find_faults, find_outputs

MAX_KNOWN_MODELS = 200
"""Newest models among which words name one by its target."""


def _dataset_of(node: Node) -> UUID | None:
    """Return the dataset that a node reads, or that a trigger waits for."""
    config = parse(node)
    return config.dataset_id if isinstance(config, ReadDataset | Trigger) else None


class RequestTarget(BaseModel):
    """A host that nodes send to, or the secret that holds it. `code`, `message`: why it is refused."""

    name: str
    nodes: list[str]
    code: str | None = None
    message: str | None = None


# In threads: of 500 nodes in a chain, or 300 `for_each` of ten nodes, these compile queries for seconds.
def _find_form_faults(document: WorkflowDocument) -> list[WorkflowFault]:
    return find_faults(document) or [*find_limit_faults(document)]


def _find_column_faults(
    document: WorkflowDocument, tables: Tables, schemas: Mapping[str, TableSchema]
) -> list[WorkflowFault]:
    """Find the faults of columns in a document that has no others."""
    judgement = judge_columns(document, make_plans(document, tables), schemas)
    if judgement.faults:
        return judgement.faults
    faults = [*find_value_faults(document, judgement.columns)]
    return faults + find_item_faults(document, tables, schemas)


def _find_target(node: Node, rules: HostRules) -> RequestTarget | None:
    config = parse(node)
    url = config.url if isinstance(config, HttpRequest) else getattr(config, "to", None)
    # An address of e-mail has no host to allow; the mail server is the operator's.
    if not isinstance(config, HttpRequest | Notify) or url is None or ("@" in url and "://" not in url):
        return None
    if "://" not in url:
        return RequestTarget(name=f"the address in the secret {url}", nodes=[])
    try:
        return RequestTarget(name=rules.check_url(url).host, nodes=[])
    except LabError as error:
        host = str(error.facts.get("host", "an address that cannot be read"))
        return RequestTarget(name=host, nodes=[], code=error.code, message=error.detail)


def _find_endless_stores(document: WorkflowDocument, awaited: Sequence[DatasetRef]) -> list[WorkflowFault]:
    """Find nodes that store the dataset whose new versions begin the workflow: it would never end."""
    names = {ref.name for ref in awaited}
    return [
        WorkflowFault(
            pointer=f"{pointer}/config/name",
            code="endless_workflow",
            message=f"A new dataset {config.name} begins this workflow. Store it under another name.",
        )
        for pointer, node in list_placed_nodes(document)
        if isinstance(config := parse(node), Store) and make_dataset_name(config.name) in names
    ]


def make_no_mail_error() -> InvalidInput:
    return InvalidInput(
        "email_not_configured",
        "This service sends no e-mail: its operator sets SMTP_URL. Use the channel slack or webhook, with a "
        "secret in `to`.",
    )


async def read_address(open_uow: OpenUnitOfWork, owner: UUID) -> str:
    """Return the address of an account; the empty text once it is deleted."""
    async with open_uow() as uow:
        account = await uow.db.get(UserRow, owner)
    return account.email if account is not None and account.disabled_at is None else ""


@dataclass(frozen=True)
class DocumentCheck:
    """The faults of documents of one owner."""

    open_uow: OpenUnitOfWork
    owner: UUID
    secrets: SecretStore
    hosts: RequestHosts
    mail: MailConfig | None

    async def read_datasets(self, document: WorkflowDocument) -> Sequence[DatasetRef]:
        """Return the owner's datasets that the workflow reads."""
        return await self.read_datasets_by_id(dataset_ids(document))

    async def read_datasets_by_id(self, ids: Sequence[UUID]) -> Sequence[DatasetRef]:
        """Return those of the datasets that the owner has, in this order."""
        return await SessionDatasets(self.open_uow, self.owner, ids).list()

    async def find_faults(self, document: WorkflowDocument) -> list[WorkflowFault]:
        """Find the faults of a document; where there are none, those of its datasets and columns."""
        faults = await asyncio.to_thread(_find_form_faults, document)
        if faults:
            return faults
        # Before datasets are read: these faults need no columns, and one reading of the owner's hosts.
        faults = await self._find_sending_faults(document)
        if faults:
            return faults
        refs = await self.read_datasets(document)
        awaited = await self._read_trigger_datasets(document)
        available = {ref.id for ref in [*refs, *awaited]}
        faults = [
            WorkflowFault(
                pointer=f"/nodes/{place}/config/dataset_id",
                code="dataset_not_found",
                message=f"There is no dataset {dataset_id}. GET /datasets lists yours.",
            )
            for place, node in enumerate(document.nodes)
            if (dataset_id := _dataset_of(node)) is not None and dataset_id not in available
        ]
        faults += [*_find_endless_stores(document, awaited), *await self._find_model_faults(document)]
        faults += await find_result_faults(self.open_uow, self.owner, document)
        if faults:
            return faults
        tables = {ref.id: ref.table for ref in refs}
        schemas = {ref.table: read_table_schema(ref.columns) for ref in refs}
        return await asyncio.to_thread(_find_column_faults, document, tables, schemas)

    async def _find_model_faults(self, document: WorkflowDocument) -> list[WorkflowFault]:
        """Find predictions by models that do not exist."""
        faults = []
        for pointer, node in list_placed_nodes(document):
            config = parse(node)
            if not isinstance(config, Predict) or config.model_id is None:
                continue
            async with self.open_uow() as uow:
                try:
                    await ModelRepository(uow.db, self.owner).get(config.model_id)
                except NotFound as error:
                    message = f"{error.detail} GET /models lists yours."
                    faults.append(
                        WorkflowFault(pointer=f"{pointer}/config/model_id", code=error.code, message=message)
                    )
        return faults

    async def list_targets(self, document: WorkflowDocument) -> list[RequestTarget]:
        """List where the requests and messages of a document go, in the order of its nodes."""
        rules = await self.hosts.rules_of(self.owner)
        targets: dict[str, RequestTarget] = {}
        for _, node in list_placed_nodes(document):
            target = _find_target(node, rules)
            if target is not None:
                targets.setdefault(target.name, target).nodes.append(node.id)
        return list(targets.values())

    async def _find_sending_faults(self, document: WorkflowDocument) -> list[WorkflowFault]:
        """Find requests and messages to hosts that are not allowed, or with secrets that do not exist."""
        senders = [
            (f"{pointer}/config", config)
            for pointer, node in list_placed_nodes(document)
            if isinstance(config := parse(node), HttpRequest | Notify | Trigger)
        ]
        if not senders:
            return []
        names = {secret.name for secret in await self.secrets.list_secrets(self.owner)}
        rules = await self.hosts.rules_of(self.owner)
        faults = []
        for pointer, config in senders:
            url = config.url if isinstance(config, HttpRequest) else getattr(config, "to", None)
            if config.secret is not None and config.secret not in names:
                message = make_unknown_secret_error(config.secret).detail
                faults.append(WorkflowFault(pointer=pointer, code="secret_not_found", message=message))
                continue
            try:
                if isinstance(config, Notify) and config.channel == "email":
                    await self._check_mail(config)
                elif url is not None and "://" in url:
                    rules.check_url(url)
            except LabError as error:
                faults.append(WorkflowFault(pointer=pointer, code=error.code, message=error.detail))
        return faults

    async def _check_mail(self, config: Notify) -> None:
        """Raises InvalidInput without a mail server, and for a recipient that is none; Forbidden."""
        if self.mail is None:
            raise make_no_mail_error()
        if config.to is not None and config.secret is None:
            self.mail.check_recipient(config.to, await read_address(self.open_uow, self.owner))

    async def _read_trigger_datasets(self, document: WorkflowDocument) -> Sequence[DatasetRef]:
        ids = [
            dataset_id
            for node in document.nodes
            if node.type == "trigger" and (dataset_id := _dataset_of(node))
        ]
        return await SessionDatasets(self.open_uow, self.owner, ids).list() if ids else []

    async def list_models(self) -> list[KnownModel]:
        """List the owner's newest models, those that their studies chose before others."""
        async with self.open_uow() as uow:
            page = await list_models(uow.db, self.owner, None, PageRequest(limit=MAX_KNOWN_MODELS))
        # The sort is stable: among those that were chosen the newest stays first.
        models = sorted(page.items, key=lambda model: not model.chosen)
        return [
            KnownModel(model.id, model.name, target) for model in models if (target := model.problem.target)
        ]

    async def list_columns(self, document: WorkflowDocument) -> list[str]:
        """List the columns of the outputs of a valid document, as far as they are known before a run."""
        refs = await self.read_datasets(document)
        plans = make_plans(document, {ref.id: ref.table for ref in refs})
        schemas = {ref.table: read_table_schema(ref.columns) for ref in refs}
        columns: dict[str, None] = {}
        for output in find_outputs(document):
            try:
                columns |= dict.fromkeys(compile_plan(plans[output], schemas).columns)
            # Columns only help to read words; where they are not known, words are taken as names.
            except (LabError, KeyError):
                continue
        return list(columns)
