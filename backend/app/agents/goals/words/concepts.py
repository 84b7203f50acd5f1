"""Concepts of everyday data: words of goals and of column names that mean the same thing.

Each line of `_CONCEPTS` is a concept. A word may belong to several; words of one line are taken for each other,
words of two lines are not. A line holds what people write for the same column, not every synonym of English:
too wide a line makes a wrong column look right.
"""

from app.agents.goals.words.abbreviations import unabbreviate
from app.agents.goals.words.stemming import stem

_CONCEPTS = """
survive survived survival survivor died die death dead alive mortality live lived perish fatal
death dead died fatality fatalities fatal deceased killed
churn churned leave leaving left cancel cancelled cancellation quit attrition exited exit retention retain stay
churn unsubscribe unsubscribed left cancelled
churn leave left lapse lapsed terminate terminated leaver resign resigned turnover defect attrition quit
price cost worth amount expensive cheap sell sale sold value valuation charge fetch
price close
revenue takings turnover proceeds price amount total
cost expense expenses expenditure spend spending outlay pay
salary wage wages income earn earnings earner pay paid compensation remuneration payroll
revenue sales takings turnover income proceeds earnings gmv receipts gross
default defaulted repay repayment delinquent delinquency bankrupt bankruptcy arrears chargeoff
default defaulted chargeoff chargedoff writtenoff
default risky risk bad insolvent impaired nonperforming delinquent fraud
fraud fraudulent scam suspicious bogus fake chargeback
disease diagnosis sick sickness ill illness malignant tumor tumour cancer condition disorder diabetes diabetic
buy purchase purchased bought buyer convert converted conversion order subscribe subscribed
order orders ordered booking bookings booked reservation appointment appointments visit visits
noshow attend attended attendance absent absence turnup showup missed attending
cancel cancelled canceled cancellation
demand sales units volume quantity sold
usage use used consumption consume demand load
mpg fuel mileage economy consumption efficiency
energy electricity power consumption load kwh
species kind type category variety class breed
rating score grade quality rank stars points mark marks
rating review satisfaction satisfied happy unhappy csat nps sentiment
weight heavy mass weigh heavier light
height tall taller high
length long longer
width wide
depth deep
size big large larger small area
age old older young elderly
duration long time minutes hours days length lasts last elapsed stay lifetime lifespan
transit travel trip journey delivery duration days lead
wait waiting queue
distance far mileage miles km kilometres kilometers range
temperature temp hot warm cold degrees heat celsius fahrenheit
rain rainfall precipitation wet shower
snow snowfall
humidity humid moisture damp
wind windy gust
speed fast slow velocity slower faster slowest fastest pace
delay late lateness delayed overdue behind tardy punctual ontime
arrival arrive arr arrives reach reaches terminus destination end landing
departure depart dep departs leave leaves leaving takeoff setting start
rent rented rental rentals count hire hired
passenger passengers riders ridership crowding crowded occupancy busy boardings load
traffic volume flow vehicles congestion
visitor visitors visits footfall traffic guests attendance
guests guest occupancy nights stay
sex gender male female
spam junk unwanted
progression outcome result
outcome result status state end ending
click clicked ctr clicks clickthrough
open opened opens
response respond responded responds reply answered
approve approved approval accept accepted grant granted reject rejected refuse denied decision
fare ticket price
population inhabitants people residents
profit loss lose losing unprofitable profitable margin earnings gain
rate interest apr coupon
tip gratuity tips
discount rebate markdown reduction
tax vat duty
balance savings deposit
loan credit mortgage lending borrow borrowed requested amount principal
claim claims claimed compensation payout settlement damage broken
damage damaged broken defect defective faulty scrap reject
fail fails failed failing failure breakdown fault faulty malfunction outage break breaks
maintenance repair repaired service servicing
error errors mistake fault bug
accident crash collision injury injured casualty
severity severe serious grave
crime offence offense theft burglary
pollution pm25 pm10 emissions co2 smog aqi
emission emissions co2 carbon
concentration level dose
yield harvest crop output production
output production produced manufactured
capacity volume
stock inventory onhand
return returned returns refund refunded
shipping delivery freight postage
hours hour worked work overtime
experience tenure seniority service
performance perform score result rating
grade score mark exam test result pass passed gpa
pass passed fail failed failing
graduate graduated dropout dropped enrolled completion
win wins won winner winning beat victory lose lost result
goals goal scored points score
attempts tries
vote votes voted voting turnout
hospitalised hospitalized hospital admitted admission readmitted readmission inpatient
pressure bp systolic
heartrate pulse bpm
glucose sugar
cholesterol lipid
bmi obese obesity overweight
pregnant pregnancy
smoke smoker smoking
hp horsepower power
yr year annual yearly
month monthly
week weekly
day daily
cyl cylinder cylinders
qty quantity number count pieces units
amt amount sum
tmax max maximum highest hottest peak
tmin min minimum lowest coldest
avg average mean
customer client member subscriber account shopper buyer
employee staff worker colleague
patient case
student pupil
house home property dwelling flat apartment
household home
mother mum mom mums moms
father dad dads daddy
car vehicle auto
store shop branch outlet
country nation
region area district zone
city town
product item article sku
supplier vendor
segment group tier band
plan tariff package contract subscription
analyse analyze analysis analytics insight insights pattern patterns trend trends
model models classifier regressor automl
price preis prix precio prezzo preco
cost kosten cout coste costo
sales umsatz absatz ventes ventas vendite verkauf
rent miete loyer alquiler
salary gehalt lohn salaire sueldo salario einkommen income
age alter edad eta
sex geschlecht sexe sexo
weight gewicht poids peso
height grosse taille altura
size grosse
churn kundigung abwanderung attrition
survived uberlebt uberlebten survecu sobrevivio
customer kunde kunden client cliente
quantity menge anzahl quantite cantidad
date datum fecha data
year jahr annee ano anno
consumption verbrauch consommation consumo
temperature temperatur temperatura
demand nachfrage demande demanda
duration dauer duree duracion
area flache wohnflache surface superficie
default ausfall zahlungsausfall impago
"""


def _read_groups(text: str) -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, line in enumerate(text.strip().splitlines()):
        for word in line.split():
            groups.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


_CONCEPTS_BY_STEM = _read_groups(_CONCEPTS)


def expand(word: str) -> str:
    """Return the stem of a word, or of the word that it abbreviates in names of columns (`qty`: quantity)."""
    return stem(unabbreviate(word))


def find_concepts(word_stem: str) -> frozenset[int]:
    """Return the numbers of the concepts that a stem belongs to."""
    return _CONCEPTS_BY_STEM.get(word_stem, frozenset())


def share_concept(first: str, second: str) -> bool:
    """Test if two stems belong to one concept."""
    return not find_concepts(first).isdisjoint(find_concepts(second))


def is_known_word(word_stem: str) -> bool:
    """Test if a stem belongs to any concept."""
    return word_stem in _CONCEPTS_BY_STEM
