"""Cues of the two lanes: patterns over lower-case words."""

import re

TIME_UNIT = (
    r"(?:second|minute|hour|day|morning|noon|evening|night|midnight|week|weekday|workday|weekend|month|"
    r"quarter|year|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?"
)
_DAY_NAME = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"

PART = (
    r"(?:workflow|pipeline|flow|step|node|edge|trigger|schedule|cron|webhook|hook|"
    r"e-?mail|mail|notification|notifier|alert|message|slack|sms|approval|error handling|retry|retries|"
    r"threshold|limit|time-?out|time ?zone|recipient|subject|channel|header|request|secret|source|output|"
    r"filter|sort|join|union|distinct|group_by|top_k|pivot|condition|loop|read|daily run|nightly run)s?"
)
"""Nouns of parts of a workflow and of their settings."""

STRUCTURE = r"(?:workflow|pipeline|flow|step|node|edge|trigger|schedule|webhook|version)s?"
"""Nouns that nothing but a workflow has."""

NOTICE = r"(?:e-?mail|mail|notification|alert|message|warning|slack message|sms|report)s?"

EDIT = (
    r"(?:add|ad|append|insert|put|place|remove|delete|drop|take out|throw out|get rid of|cut|strip|rename|"
    r"move|swap|exchange|replace|switch|change|edit|modify|update|adjust|set|reset|connect|disconnect|link|"
    r"unlink|attach|detach|duplicate|copy|make a copy of|stop|pause|resume|disable|enable|turn off|turn "
    r"on|allow|set up)"
)
"""Verbs that change a workflow if their object is a part of one."""

EDIT_STRUCTURE = r"(?:include|use|split|create|build|make|define|keep|sort|filter|call|start|end|go through)"
"""Verbs that change a workflow if they name a step of it: of data they ask for a computation."""

NOTIFY = (
    r"(?:send|e-?mail|mail|post|notify|alert|tell|warn|ping|text|message|page|inform|let|call|write to|"
    r"remind|report to)"
)
EFFECT = (
    rf"(?:{NOTIFY}|run (?:it|this|that|the (?:workflow|pipeline|flow|step|job))|rerun|start|trigger|"
    rf"refresh|retrain|store|"
    r"save|write|repeat|retry|ask|skip|stop|do (?:it|this|that|nothing)|fail|require|publish|archive|"
    r"upload|continue|"
    r"fetch|load|import|exclude|ignore|leave out|remove|delete|drop|pause)"
)
"""Verbs that do something outside a result: under a condition they are a rule."""

SURE_ACTION = (
    r"(?:send|notify|tell|warn|inform|let|write|remind|run|rerun|start|refresh|retrain|train|predict|"
    r"forecast|store|save|"
    r"repeat|retry|do|ask|skip|keep running|check|fetch|load|import|recompute|publish|archive|upload|"
    r"loop|add|remove|stop|"
    r"don't|never|always)"
)
"""Verbs that are no nouns."""
_OBJECT = r"(?:me|us|it|this|that|them|the|an?|my|our|all|any|each|every|to|at|on|ops|\S{1,60}@\S{1,60})"

ACTION = (
    rf"(?:{NOTIFY}|{EDIT}|run|rerun|start|trigger|refresh|retrain|train|predict|forecast|store|save|write|"
    rf"export|"
    r"repeat|retry|do|ask|skip|fail|exclude|ignore|leave out|wait|require|schedule|check|fetch|load|import|"
    r"recompute|publish|archive|upload|keep|continue|go|loop|apply|calculate|compute)"
)
"""Verbs with which a request begins that does something."""

OTHERWISE = re.compile(rf"^(?:otherwise|or else|else|if not|in (?:all|any) other cases?),? (?:{EFFECT})\b")
"""Words of what happens where a condition does not hold."""

TIMED_ACTION = rf"(?:{SURE_ACTION}|make (?:it|this|that)|(?:{NOTIFY}|trigger|schedule|update|export) {_OBJECT})"
"""Actions that a time or a recurrence governs."""

SHOW = (
    r"(?:show|list|display|give (?:me|us)|tell (?:me|us)|get (?:me|us)|find|see|look|let (?:me|us) see|"
    r"let's|compare|"
    r"count|describe|explain|summari[sz]e|preview|plot|draw|chart|graph|rank|break down|add up|sum|"
    r"update (?:me|us)|"
    r"send (?:me|us)|bring (?:me|us)|"
    r"bring up|pull up|report on|query|look up|sample|download|select|average|total)"
)
"""Verbs that ask to see something, whatever else stands in the sentence."""

COMPUTE = (
    r"(?:get|fetch|pull|read|load|request|call|check|compute|calculate|predict|forecast|estimate|train|"
    r"fit|run|export|"
    r"group|join|merge|pivot|sort|filter|build|create|make|generate|draw|turn|go through|analy[sz]e|use|search)"
)
"""Verbs that ask for a computation; with a lasting cue they change a workflow."""


POLITE = re.compile(
    r"^(?:(?:please|pls|hey|hi|hello|ok|okay|so|and|also|then|now|well|just|kindly)\b[, ]*|"
    r"(?:can|could|would|will) (?:you|we)(?: please| pls| quickly| kindly| also| just)* |"
    r"(?:i|we)(?:'d| would)? (?:want|need|like) you to )+"
)

QUESTION = re.compile(
    r"^(?:what|which|who|whose|whom|where|why|how|any)\b|"
    r"^when (?:did|do|does|was|were|is|are|will|has|have|had)\b|"
    r"^(?:is|are|was|were|does|did|has|had|am|should|might|may|isn't|aren't|doesn't|didn't) |"
    r"^(?:can|could|would|will) (?!you |we )|"
    r"^do (?!this|that|it|so|not|the same|something|nothing)|"
    r"^have (?:we|you|they|there|any|all|the|our)\b|"
    r"[,:;] ?(?:and |then )?(?:what|which|who|whose|where|why|how)\b|"
    r"\b(?:then|so) (?:what|which|how)\b"
)

SINGLE_TIME = re.compile(
    r"\b(?:just )?(?:this|only) once\b|\bonce and\b|\bfor once\b|\bone[- ]time\b|\bright now\b|\bjust now\b|"
    r"\bthis time\b|\bfor now\b|\b(?<!from )(?<!as of )now$"
)

STANDING = re.compile(
    r"\b(?:from now on|from here on|going forward|in (?:the )?future|as of (?:now|today|tomorrow)|"
    r"starting (?:from )?"
    r"(?:now|today|tomorrow|next|on)|from (?:today|tomorrow|next \w+) on|henceforth|permanently|for good|"
    r"any ?more|"
    r"any longer|automatically|on its own|by itself)\b"
)
"""Adverbs that say that something is to last."""

ALWAYS = re.compile(r"\b(?:always|never(?! mind))\b")
EACH_TIME = re.compile(
    r"\b(?:whenever|every time|each time|any time|anytime|after each|after every|before each|before every|"
    r"(?:on|for|with) (?:each|every) (?:run|new|update|upload|import))\b"
)

RECURRENCE = re.compile(
    rf"\b(?:every|each) (?:other |second |single |\d+ )?(?:{TIME_UNIT})\b|"
    rf"\bevery (?:{_DAY_NAME})\b|\b(?:hourly|daily|nightly|weekly|monthly|quarterly|yearly)\b|"
    rf"\b(?:once|twice|\w+ times) (?:a|per|each|every) (?:{TIME_UNIT})\b|"
    rf"\bon (?:weekdays|weekends|workdays|{_DAY_NAME.replace('?', '')})\b|"
    r"\bon the (?:first|last|\d+(?:st|nd|rd|th)) (?:day )?of (?:each|every|the) month\b|"
    r"\bat (?:midnight|noon|night|\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?(?: o'clock)?)(?![\d%])\b|"
    r"\bon an? \w+ (?:basis|schedule)\b"
)
SCHEDULED_DISPLAY = re.compile(
    rf"^(?:on |at )?(?:every|each) (?:other )?(?:{TIME_UNIT}|{_DAY_NAME})(?: (?:morning|evening|night))?"
    r" at (?:midnight|noon|\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?(?: o'clock)?),? (?:please )?"
    r"(?:give|show|tell|get|bring) (?:me|us)\b"
)
"""Something to see at a time of day that recurs: without the time of day, `every month` may mean groups."""
PERIOD_ADJECTIVE = re.compile(
    rf"\b(?:hourly|daily|nightly|weekly|monthly|quarterly|yearly)\s+(?!at\b|on\b|and\b|from\b|$)\w+|"
    rf"\b(?:every|each) {TIME_UNIT}'s?\b|"
    rf"\b(?:for|by|of|per|in|over|at|on) (?:each|every) (?:single )?{TIME_UNIT}\b|\b(?:each|every) "
    rf"{TIME_UNIT} (?:of|in|before|since)\b|"
    r"\b(?:placed|made|sent|sold|taken|opened|closed|born|late|of|from|flights?|orders?|sales|volume|"
    r"trains?) (?:at|on) \S+"
)
"""A recurrence that only qualifies a noun: daily revenue, every Monday's sales."""

PERIOD_CHANGE = re.compile(r"^(?:stop|pause|start|change|move) the (?:hourly|daily|nightly|weekly|monthly)\b")

CONDITION = re.compile(
    r"\b(?:if|when|whenever|once|unless|as soon as|in case(?: of)?|on failure|on error|on success|upon)\b"
)
PAST = re.compile(
    r"\b(?:was|were|did|had|yesterday|last (?:week|month|year|night|quarter)|ago|in (?:19|20)\d\d)\b|"
    r"\b(?:if|when|whenever|each time|every time)\b[^,]{0,120}?\b\w{3,20}(?:ped|ked|ged|led|ned|red|sed|ted|"
    r"ved|ced|ied)\b(?! by)"
)
"""A condition in the past asks for rows; one in the present is a rule."""

ONE_EVENT = re.compile(
    r"\b(?:if|when) .{0,120}\b(?:today|tomorrow|now|yet|already|ever|first|last|next|previous|is|are)\b"
)
"""A condition about one event, which is a question: tell me when the next train leaves."""

META = re.compile(
    r"^(?:save|keep|store|turn|make|convert) (?:this|that|it|these|them)\b.*\b(?:workflow|pipeline|"
    r"schedule|permanent|"
    r"automatic|recurring|job)\b|^automate\b|^make (?:this|that|it) (?:permanent|automatic|recurring|last)|"
    r"^(?:undo|revert|restore|roll ?back)\b|^go back to (?:the )?(?:version|previous|last|former)|"
    r"^(?:create|build|make|set up|define|i (?:want|need)|we (?:want|need))\b[^,]*?\ba?n? ?(?:\w+ "
    r")?(?:workflow|pipeline|"
    r"trigger|schedule|alert|notification|reminder)\b"
)
INSTEAD = re.compile(r"\b(?:instead|rather than)\b")
CHANGE_TO = re.compile(
    r"^(?:set|raise|lower|increase|decrease|reduce|extend|shorten|bump) (?!of\b)(?:the |its |our )?[\w "
    r"-]+? (?:to|by) \S+"
)
SHOULD = re.compile(
    rf"^(?:there (?:should|must|has to|needs to) be\b.*\b{PART}\b|(?:the |its |each )?(?:\w+ )?{PART} "
    rf"(?:should|must|has to|"
    r"needs to|ought to)\b)"
)
GATE = re.compile(
    r"^(?:ask|require|have|wait for|get|need|demand|let) .{0,120}\b(?:approv\w{1,12}|confirm\w{0,12}|"
    r"permission|ask|me|sign off)\b.{0,120}\bbefore\b|"
    r"^(?:ask|require|wait)\b.*\bbefore\b"
)
PERSON_FIRST = re.compile(
    rf"^(?:nobody|no one|nothing|none|no \w+|never|don't|do not|hold|wait|block|{ACTION})\b.*"
    r"\b(?:until|till|before|unless) (?:i|we|someone|somebody|a person|my \w+) (?:have |has )?"
    r"(?:approved?|confirm(?:ed)?|seen?|looked|look|checked|check|agreed?|signed off|sign off|said|say|says|"
    r"accept(?:ed)?|released?)\b"
)
"""Something waits for a person: hold it back until I have approved it."""
SENTENCE_END = re.compile(r"(?<=[?!;]) +|(?<=[a-z)]\.) +")

ORDERED = re.compile(
    rf"^(?:right |directly )?(?:before|after) (?:the |each |every |any )?[\w ]+?, ?(?:also |then )?{ACTION}\b|"
    rf"^(?:also )?(?:{ACTION})\b.*\b(?:before|after|between|behind) (?:the |each |every )?(?:\w+ )?{PART}\b|"
    rf"^(?:also )?(?:{NOTIFY})\b.*\b(?:before|after) (?:the )?\w+$"
)
"""An action beside a step: before sending, remove the duplicates."""

WISH = re.compile(
    rf"^(?:i|we)(?:'d| would)? (?:want|need|like)\b(?: to (?:get|have|receive))?.*\b(?:{NOTICE}|be "
    rf"(?:notified|alerted|warned|"
    r"told|informed|e-?mailed))\b"
)
WISH_FOR_DATA = re.compile(
    r"^(?:i|we)(?:'d| would)? (?:want|need|like|wish)(?: to)? ?(?:see|know|have|get|look|a|an|the|all|"
    r"every|only|some|"
    r"yesterday|today|last|this|my|our|more|\d)"
)
FOLLOW_UP = re.compile(
    r"^(?:the )?same\b|^only (?!if\b|when\b|once\b)(?:the )?\w+ \w+|^(?:but|what about|how about) "
)

NOUN_PHRASE = re.compile(
    r"^(?:the )?(?:top|first|last|latest|newest|oldest|current|recent|best|worst|cheapest|highest|lowest|"
    r"biggest|smallest|"
    r"largest|fastest|slowest|\d+|one|two|three|five|ten|all|every|each|number|average|mean|median|total|"
    r"sum|maximum|minimum|"
    r"max|min|share|percent|percentage|distribution|trend|per|for each|for every|unique|distinct|set of|"
    r"values?|rows?|"
    r"columns?|records?|hourly|daily|weekly|monthly|yearly) \S+|"
    r"^[\w' -]+ (?:of|by|per|over|under|below|above|where|whose|who|with|without|since|between|from|in|"
    r"added|sold|changed|placed|"
    r"ordered|on|we|that|which) \S+"
)
SENTENCE = re.compile(r"^(?:i|we|you|he|she|they|it|this|that|something|there)(?:'\w+| )")
"""A sentence with a subject, which is no noun phrase."""

VAGUE_REQUEST = re.compile(
    r"^(?:do|make|change|fix|improve|update|set|run through)\b (?:it|this|that|something|anything|things|"
    r"them|better|nicer|"
    r"the usual)(?: better| nicer| good| work| right| up)?(?: with .*)?$"
)
