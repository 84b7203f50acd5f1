"""Words by which the clauses of a goal are taken apart."""

from app.agents.goals.words.vocabulary import COUNT_WORDS, FUNCTION_WORDS, word_set

ARTICLES = word_set(
    "a an the this that these those our my their its his her your each every all any some which"
)
AUXILIARIES = word_set(
    """
    will would is are was were be been being do does did has have had can could should shall may might must
    going gonna gets get got becomes become ends wont isnt arent doesnt dont
    """
)
NEGATIONS = word_set("not never no t n")
ADVERBS = word_set(
    """
    likely about soon ever actually really just up out back off down again most probably to next still
    """
)
VERBS = word_set(
    """
    predict predicts predicting prediction forecast forecasts forecasting estimate estimates estimating
    guess anticipate project classify model score determine detect flag spot identify find recognise
    recognize tell know expect foresee calculate compute work learn understand explain see show give need
    want wish like build train make create develop help try aim figure guessing say warn rank segment
    predictor classifier regressor bestimme bestimmen sage sagen vorhersage vorhersagen vorherzusagen voraus
    vorher prognose prognostiziere schatze predecir predice prever predire predis prevedere prevedi
    """
)
"""Verbs whose object is what is asked for, and those that introduce them."""
DRIVER_VERBS = word_set(
    """
    drives drive driving drove affects affect affecting affected influences influence influencing influenced
    impacts impact impacted causes cause caused determines determined raises raise lowers lower makes make
    explains increases reduces matters
    """
)
SELECTING_VERBS = word_set("flag spot identify find detect tell recognise recognize rank warn")
CHANCES = word_set("risk risks probability chance chances likelihood odds danger")
"""Nouns for how probable something is, which is what is asked for."""
DEGREES = word_set(
    """
    high higher highest great greater greatest increased elevated low lower lowest big biggest large largest
    good best
    """
)
"""Adjectives of such a noun."""
PREPOSITIONS = word_set("of in on at by to into onto about with within behind before after during until")
ENTITY_PREPOSITIONS = word_set("for per across among")
CONDITION_WORDS = word_set(
    """
    when while because so since although though if unless given from using based without with than over
    above under below only
    """
)
BOUNDARIES = PREPOSITIONS | ENTITY_PREPOSITIONS | CONDITION_WORDS | {",", "and", "or"}
HOW_MANY = word_set("many much")
ASKING = word_set("who which what whose whom")
SUBORDINATE = word_set("whether if ob")
DIRECTIONS = word_set(
    """
    rise rises fall falls increase increases decrease decreases grow grows drop drops climb climbs gain
    decline higher lower up down negative positive above below over under exceed exceeds more less than
    change changes move moves zero big high low depend depends vary varies differ differs
    """
)
"""Words of a predicate that say where its subject goes: in "whether profit is negative" profit is asked for."""
RELATIVE = word_set("that which who whose")
EMPTY = (
    FUNCTION_WORDS
    | ARTICLES
    | NEGATIONS
    | ADVERBS
    | word_set(
        """
        we us you they he she i me one someone somebody people's s re ve ll d m there here please pls kindly
        new upcoming future coming following next last given single individual certain particular specific
        typical also too well then now today before hand advance instead again though actually maybe perhaps
        ok okay thanks thank hello hi hey die der das den dem des ein eine einen
        einer hat haben ist sind wird werden und le la les un une el los il lo gli est sera
        """
    )
)
"""Words that name neither columns nor values."""
END = word_set(". ; : ! ?")
COUNTS = frozenset(COUNT_WORDS)
STRONG = word_set("predict forecast estimate guess classify model prediction predicting forecasting anticipate")
STRONG_LIST = sorted(word for word in STRONG if word not in ("guess", "model"))
"""Verbs whose misspellings are mended: the short ones have neighbours that are words, `guests` and `models`."""
MEDIUM = word_set("who which whether how flag spot identify detect find why what drives driver drivers")
TRANSPARENT = word_set(
    """
    reason reasons cause causes driver drivers factor factors determinant determinants number amount level
    levels value values risk probability chance chances likelihood odds kind type sort model estimate
    prediction forecast classifier size extent degree question case list
    """
)
"""Nouns that pass their part on to what follows: "the probability of rain" asks for rain."""
EFFECTS = word_set("effect effects influence impact role dependence dependency link connection")
"""Nouns of a driver: in "the effect of price on demand" the demand is asked for."""
