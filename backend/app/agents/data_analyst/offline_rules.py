"""The data analyst without a provider: a table of rules for each of its stages."""

from app.agents.data_analyst import answer_rules, exploration_rules, feature_rules
from app.agents.data_analyst.brief import AnalysisBrief, AnswerBrief, FeaturesBrief
from app.agents.runtime.offline_policy import make_policy
from app.modeling.facts.conversion import parse_facts

decide_analysis = make_policy(exploration_rules.RULES, lambda brief: parse_facts(AnalysisBrief, brief))
decide_answer = make_policy(answer_rules.RULES, lambda brief: parse_facts(AnswerBrief, brief))
decide_features = make_policy(feature_rules.RULES, lambda brief: parse_facts(FeaturesBrief, brief))
