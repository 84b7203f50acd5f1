"""Signs that a goal asks for figures of the rows, and signs that it goes beyond them."""

import re

from app.agents.questions.grammar_words import ADJECTIVES, AGGREGATE_WORDS, SUPERLATIVES

NOT_OF_DATA = re.compile(
    r"\b(?:will|would|should|shall|tomorrow|likel\w+(?![^?]{1,80}\bthan\b)|probab\w+|chances?|risk|odds|expect\w*|importan\w+"
    r"|factors?|drivers?|influenc\w+|affect(?:s|ing)?|what affected|what causes?|caused by|why|train(?:ed|ing)"
    r"|train (?:an?|the|on|it|with|using)|models?|classifier"
    r"|regress\w*|machine learning|learn\w*|explain\w*|build|anomal\w*|clusters?|segments?|interesting)\b",
    re.IGNORECASE,
)
"""Words of goals that go beyond the existing rows."""

# In an order that every process shares: a pattern is measured again when it changes.
_WORDS = "|".join(sorted({*AGGREGATE_WORDS, *SUPERLATIVES, *ADJECTIVES}, key=lambda word: (-len(word), word)))

SIGNS = re.compile(
    r"^\W*what (?:is|was|were|does|did|do) |^\W*(?:was|were|did|does|do) "
    rf"|\b(?:{_WORDS}|how many|how much|how often|number of|count(?:s|ed)?|share|percent(?:age)?"
    r"|proportion|fraction|rate|correlat\w+|(?:most|least) (?:common|frequent\w*|popular|often)|commonest"
    r"|rarest|p\d{2}|different|distinct|unique|missing|nulls?|percentile|quantile|quartiles|deciles|range"
    r"|time span|period|ratio|distribution|histogram|cumulative|running|pareto|crosstab|ranking|percentages"
    r"|when (?:was|were|did)|(?:what|how|who|which)(?: \w+){0,3} (?:was|were|did)|nobody|none of"
    r"|(?:which|what)(?: \w+){1,3} are there|list|show|describe|summar\w+|compare|per|vs|versus|by|names? of"
    r"|compared|exceed\w*|whose|(?:on|at|in|from|to) which|still|link(?:ed)?|relat(?:ion|ionship|ed)"
    r"|differ\w*|departments? (?:have|has)|nothing|more often|ranked|rank|are there|is there"
    r"|where do(?:es)?|go(?:es)? together|no [a-z]{1,40}s$|were there|was there|headcount|cheaper"
    r"|(?:higher|lower|larger|smaller|older|younger|longer|shorter|more|less|fewer|better|worse)"
    r"[a-z ]{1,40}than|first \d+|difference|never|without|at least|above|below|over)\b|%",
    re.IGNORECASE,
)
"""Words of which a question that an aggregate answers has at least one."""
