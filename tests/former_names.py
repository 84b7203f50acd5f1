"""Former names that a review of the tree refused; `tests/unit/test_language.py` keeps them from coming back.

A module is a path below `backend/app` without suffix, and a folder counts too. The other kinds are refused in
every module, unless a path before a colon names the one in which they stood.
"""

FormerName = tuple[str, str]
"""(kind, name). Kinds: module, class, function, variable, prefix."""


def _names(kind: str, text: str) -> list[FormerName]:
    return [(kind, name) for name in text.split()]


WORST_NAMES: dict[int, list[FormerName]] = {
    2: _names("module", "modeling/reading"),
    3: _names("module", "modeling/operations modeling/type_inference/operations"),
    4: _names("module", "modeling/written computations/written tools/written reporting/written")
    + _names("class", "Written"),
    5: _names("module", "computations/relating computations/relate modeling/relations"),
    6: _names("module", "agents/inquiry agents/questions/inquiry agents/questions/reading")
    + _names("module", "agents/questions/scan agents/questions/spoken")
    + _names("class", "Inquiry"),
    7: _names("module", "sessions/ear sessions/listener sessions/tail sessions/watch")
    + _names("function", "tune_in tune_out")
    + _names("class", "Ear Sighting"),
    8: _names("module", "sessions/alive sessions/presence sessions/fleet") + _names("variable", "hands"),
    9: _names("module", "sessions/line") + _names("class", "Line") + _names("variable", "in_line"),
    10: _names("module", "auth/standing")
    + _names("class", "Standing SessionStanding RunStanding PoolStanding"),
    11: _names("module", "sessions/fenced") + _names("class", "Hold Leavings"),
    12: _names("module", "auth/desk auth/places auth/room auth/memory")
    + _names("class", "AuthDesk Places Room Memory"),
    13: _names("module", "api/gate api/stay api/facts api/parcel api/progress") + _names("class", "Told"),
    14: _names("module", "cli/errand cli/outing cli/conduct cli/taking cli/upkeep cli/card cli/plain cli/parts")
    + _names("class", "Errand"),
    15: _names("class", "Thought Turns Move Speaker Bounds"),
    16: _names("class", "Study"),
    17: _names("class", "Wish BudgetWish QuotaWish ImportWish")
    + _names("variable", "wish")
    + _names("module", "agents/planner/wishes"),
    18: _names("function", "said_by _said differences counted from_start"),
    19: _names("class", "in_words"),
    20: _names("function", "told labels_of asked_of stack bare"),
    21: _names("module", "modeling/finish modeling/scoring/finish")
    + _names("function", "modeling/scoring/postprocess:finish"),
    22: _names(
        "module", "modeling/giveaways modeling/leaks modeling/enough modeling/prospect modeling/defining"
    )
    + _names("class", "Giveaway"),
    23: _names("module", "modeling/parts modeling/pieces modeling/plain modeling/measure")
    + _names("module", "modeling/paired modeling/ranges"),
    24: _names("function", "played play edge try_out") + _names("class", "Book"),
    25: _names("prefix", "MOST_ FEWEST_ LEAST_ LONGEST_ SHORTEST_"),
}
"""Row of the review's table of the 25 worst names -> the names of that row.

Row 1 (`said`, `told`, `found` ... as variables) is held by the budgets of `tests/language.py`.
"""

OTHER_NAMES: list[FormerName] = [
    # Listings from which a stranger could not guess the contents.
    *_names("module", "modeling/judgement modeling/periods modeling/repeats modeling/resampled"),
    *_names("module", "modeling/structure sessions/allowances sessions/background sessions/census"),
    *_names("module", "sessions/evidence sessions/ledger sessions/memory sessions/reading sessions/records"),
    *_names("module", "sessions/scope sessions/step sessions/wire"),
    *_names("module", "cli/asking cli/story cli/targets cli/ledger"),
    # Words with several meanings.
    *_names("module", "auth/meters storage/room tools/parts reporting/parcel reporting/found llm/patience"),
    *_names("module", "computations/bars/parcels computations/bars/stamps computations/uploads/kinds"),
    *_names("module", "computations/bench markets/report modeling/markets/baselines"),
    *_names("class", "Presence Patience Found Wanted Words Reading"),
    *_names("function", "agents/goals/costs:settle tasks:settle agents/planner/preferences:settle"),
    # Modules with a single caller, and household verbs.
    *_names("module", "agents/folds tools/queryable observability/metrics/keeping api/limits modeling/split"),
    *_names("function", "glance stands regardless_of_cancels parted paged laid_out hear_out bury"),
    *_names("variable", "errand outing desk ear anew"),
    # Code that nobody called, or only tests.
    *_names("function", "order_of best_threshold decide_reading reads_as_number reads_as_date"),
    *_names("variable", "_HAVE_A_HOME"),
    *_names("class", "WalkForward PurgedKFold CombinatorialPurged"),
]
"""Further names that the review refused in its text."""

SINGLE_CLASSES = frozenset(
    ["Table", "Ending", "Verdict", "Role", "Token", "Measure", "Candidate", "Range", "Watch", "Part", "Ledger"]
)
"""Classes that had several definitions of one name. Each may have one."""

REMAINING: frozenset[FormerName] = frozenset(_names("variable", "hands"))
"""Former names that still stand: a key of the stored state of sessions. The list only falls."""
