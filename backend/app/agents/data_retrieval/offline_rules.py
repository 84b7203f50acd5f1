"""The offline policy of data retrieval: fetch the planned table, or join several with one SELECT."""

from app.agents.data_retrieval import coin_rules
from app.agents.data_retrieval.brief import (
    FETCHING_TOOLS,
    FetchedTable,
    RetrievalBrief,
    TableRelations,
)
from app.agents.data_retrieval.output import Retrieved
from app.agents.goals.conditions.row_conditions import select_rows
from app.agents.goals.persons.person_sql import select_persons
from app.agents.goals.persons.person_table import CUTOFF
from app.agents.goals.series import period_sql as series_sql
from app.agents.goals.series import select_sql
from app.agents.goals.tables.column_formula import select_with_column, select_with_derivation
from app.agents.planner.output import Plan
from app.agents.planner.tool_answers import DatasetListing
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, call, finish, make_policy
from app.modeling.facts.conversion import parse_facts
from app.modeling.problem.name_resolution import nearest_names

NO_PRICES = "There are no stored prices: upload a table, or import bars (`labcrew prices import`)."


def list_tables_when_unknown(view: ConversationView[RetrievalBrief]) -> AgentAction | None:
    """List the tables after the planned one was not found."""
    return (
        call("list_datasets")
        if view.refusals("fetch_dataset") and not view.was_called("list_datasets")
        else None
    )


def relate_tables(view: ConversationView[RetrievalBrief]) -> AgentAction | None:
    plan = view.brief.plan
    if not plan.join or view.was_called("relate_tables"):
        return None
    base, *others = plan.tables
    return call("relate_tables", base=base, target=plan.target, tables=others)


def run_select(view: ConversationView[RetrievalBrief]) -> AgentAction | None:
    """Join tables, aggregate or cut the target with a SELECT. A refused SELECT is not repeated."""
    plan = view.brief.plan
    if view.was_called("execute_sql") or plan.source == "prices":
        return None
    relation = _table_relation(view)
    source = relation.sql if relation else None
    if source is None and not _needs_select(plan):
        return None
    source = source or select_sql.select_all(plan.tables[0])
    # Computed first, since a threshold or a condition may be about the computed column.
    if plan.derivation:
        add = select_with_column if plan.aggregation or plan.persons else select_with_derivation
        source = add(source, plan.derivation)
    if plan.aggregation:
        # Conditions go into the series: the rows that they leave out still tell which periods are covered.
        source = series_sql.select_series(source, plan.aggregation, plan.filter)
    elif plan.filter:
        source = select_rows(source, plan.filter)
    if plan.persons:
        source = select_persons(source, plan.persons)
    if plan.cut and not plan.aggregation:
        source = select_sql.select_with_cut(source, plan.target_name, plan.cut)
    return call("execute_sql", message="I combine the data into one table.", sql=source, keep=True)


def fetch_table(view: ConversationView[RetrievalBrief]) -> AgentAction | None:
    plan = view.brief.plan
    if plan.source == "prices" or view.last_success(*FETCHING_TOOLS):
        return None
    if (plan.filter or plan.derivation or plan.persons) and view.was_called("execute_sql"):
        return None  # the whole table would answer another goal
    refused_tables = [completed.arguments.get("dataset") for completed in view.refusals("fetch_dataset")]
    table = plan.tables[0] if plan.tables[0] not in refused_tables else _nearest_table(view, plan.tables[0])
    return None if table is None or table in refused_tables else call("fetch_dataset", dataset=table)


def conclude(view: ConversationView[RetrievalBrief]) -> AgentAction:
    plan = view.brief.plan
    fetched = view.last_success(*FETCHING_TOOLS)
    if fetched is None:
        refusals = [
            completed.refusal or "" for completed in view.refusals(*FETCHING_TOOLS, "get_available_coins")
        ]
        return finish(Retrieved(target=plan.target, note=" ".join(refusals) or NO_PRICES))
    target = plan.target
    if fetched.name == "execute_sql" and plan.derivation:
        target = plan.target_name
    if fetched.name == "execute_sql" and plan.aggregation:
        target = plan.aggregation.name
    elif fetched.name == "execute_sql" and plan.cut:
        target = select_sql.cut_name(plan.target_name, plan.cut)
    exclude = plan.exclude
    if fetched.name == "execute_sql" and plan.persons:
        # Neither is an input: who a person is says nothing of others, and no model has seen the newest cutoff.
        target, exclude = plan.persons.name, [*exclude, plan.persons.person, CUTOFF]
    note = _describe_retrieval(view, plan)
    table = fetched.read(FetchedTable)
    message = f"The table has {table.total_rows:,} rows and {len(table.columns)} columns. {note}".strip()
    return finish(Retrieved(target=target, exclude=exclude, note=note), message=message)


RULES = (
    list_tables_when_unknown,
    relate_tables,
    coin_rules.list_coins,
    coin_rules.ask_for_coin,
    coin_rules.fetch_prices,
    run_select,
    fetch_table,
    conclude,
)
decide = make_policy(RULES, lambda brief: parse_facts(RetrievalBrief, brief))


def _needs_select(plan: Plan) -> bool:
    return bool(plan.derivation or plan.cut or plan.aggregation or plan.persons or plan.filter)


def _table_relation(view: ConversationView[RetrievalBrief]) -> TableRelations | None:
    completed = view.last_success("relate_tables")
    return completed.read(TableRelations) if completed else None


def _nearest_table(view: ConversationView[RetrievalBrief], name: str) -> str | None:
    listing = view.last_success("list_datasets")
    names = listing.read(DatasetListing).table_names if listing else []
    matches = nearest_names(name, names)
    return matches[0] if matches else (names[0] if len(names) == 1 else None)


def _describe_retrieval(view: ConversationView[RetrievalBrief], plan: Plan) -> str:
    if plan.source == "prices":
        return coin_rules.describe_substitution(view, plan)
    if refused := view.refusals("execute_sql"):
        return f"The SELECT was refused ({refused[-1].refusal}). I continue with `{plan.tables[0]}` alone."
    if refused := view.refusals("relate_tables"):
        return f"The tables cannot be joined ({refused[-1].refusal}). I continue with `{plan.tables[0]}` alone."
    return _describe_relation(_table_relation(view)) if plan.join else ""


def _describe_relation(relation: TableRelations | None) -> str:
    """Describe the joins and the tables that were left out, with their reasons."""
    if relation is None:
        return ""
    parts = [join.text for join in relation.joins]
    parts += [
        f"`{name}` has further rows of `{relation.base}` and is appended to it." for name in relation.appended
    ]
    parts += [f"`{name}` has no target: predict its rows with the model." for name in relation.to_predict]
    parts += [f"`{table.table}` is left out: {table.reason}." for table in relation.left_out]
    return " ".join(parts)
