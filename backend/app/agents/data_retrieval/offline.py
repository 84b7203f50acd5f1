"""Data retrieval without a provider: fetch the planned table, or make it of several with one SELECT."""

from typing import Any

from app.agents.data_retrieval import coins
from app.agents.data_retrieval.output import Retrieved
from app.agents.goals import select_sql
from app.agents.planner.output import Plan
from app.agents.runtime.conversation import View
from app.agents.runtime.policy import AgentAction, call, finish, follow
from app.modeling.problem.names import nearest_names

NO_PRICES = "There are no stored prices: upload a table, or import bars (`labcrew prices import`)."
FETCHES = ("fetch_dataset", "execute_sql", "fetch_price_data")


def list_tables_when_unknown(view: View) -> AgentAction | None:
    """The planned table is not there: see what is."""
    return call("list_datasets") if view.refused("fetch_dataset") and not view.tried("list_datasets") else None


def relate(view: View) -> AgentAction | None:
    plan = _plan(view)
    if not plan.join or view.tried("relate_tables"):
        return None
    base, *others = plan.tables
    return call("relate_tables", base=base, target=plan.target, tables=others)


def select(view: View) -> AgentAction | None:
    """Joining and cutting need a SELECT; one that was refused is not tried again."""
    plan = _plan(view)
    if view.tried("execute_sql") or plan.source == "prices" or not (plan.join or plan.cut):
        return None
    related = _related(view)
    source = related["sql"] if related else None
    if source is None and plan.cut is None:
        return None
    source = source or select_sql.whole(plan.tables[0])
    if plan.cut:
        source = select_sql.with_cut(source, plan.target, plan.cut)
    return call("execute_sql", says="I make one table of it.", sql=source, keep=True)


def fetch(view: View) -> AgentAction | None:
    plan = _plan(view)
    if plan.source == "prices" or view.last(*FETCHES):
        return None
    tried = [answered.arguments.get("dataset") for answered in view.refused("fetch_dataset")]
    table = plan.tables[0] if plan.tables[0] not in tried else _nearest_table(view, plan.tables[0])
    return None if table is None or table in tried else call("fetch_dataset", dataset=table)


def done(view: View) -> AgentAction:
    plan = _plan(view)
    fetched = view.last(*FETCHES)
    if fetched is None:
        refusals = [answered.refusal or "" for answered in view.refused(*FETCHES, "get_available_coins")]
        return finish(Retrieved(target=plan.target, note=" ".join(refusals) or NO_PRICES))
    is_cut = plan.cut is not None and fetched.name == "execute_sql"
    target = select_sql.cut_name(plan.target, plan.cut) if plan.cut and is_cut else plan.target
    note = _note(view, plan)
    rows = fetched.value.get("rows") if fetched.name != "execute_sql" else fetched.value.get("row_count")
    says = f"The table has {rows:,} rows and {len(fetched.value['columns'])} columns. {note}".strip()
    return finish(Retrieved(target=target, exclude=plan.exclude, note=note), says=says)


RULES = (
    list_tables_when_unknown,
    relate,
    coins.see,
    coins.ask_which,
    coins.fetch,
    select,
    fetch,
    done,
)
decide = follow(RULES)


def _plan(view: View) -> Plan:
    return Plan.model_validate(view.brief["plan"])


def _related(view: View) -> Any:
    """What `relate_tables` found, or None."""
    answered = view.last("relate_tables")
    return answered.value if answered else None


def _nearest_table(view: View, name: str) -> str | None:
    listed = view.last("list_datasets")
    names = [dataset["table"] for dataset in listed.value["datasets"]] if listed else []
    close = nearest_names(name, names)
    return close[0] if close else (names[0] if len(names) == 1 else None)


def _note(view: View, plan: Plan) -> str:
    if plan.source == "prices":
        return coins.note(view, plan)
    if refused := view.refused("execute_sql"):
        return f"That SELECT was refused ({refused[-1].refusal}), so I go on with `{plan.tables[0]}` alone."
    if refused := view.refused("relate_tables"):
        return (
            f"The tables cannot be related ({refused[-1].refusal}), so I go on with `{plan.tables[0]}` alone."
        )
    return _said(_related(view)) if plan.join else ""


def _said(related: Any) -> str:
    """How the tables hang together, and each one that is left out with its reason."""
    if not related:
        return ""
    parts = [join["text"] for join in related["joins"]]
    parts += [
        f"`{name}` holds more rows of `{related['base']}` and is added to it." for name in related["appended"]
    ]
    parts += [f"`{name}` has no target: predict its rows with the model." for name in related["to_predict"]]
    parts += [f"`{one['table']}` is left out: {one['reason']}." for one in related["left_out"]]
    return " ".join(parts)
