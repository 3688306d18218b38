"""Words that names, drugs, terms of medicine and occupations are made of."""

from __future__ import annotations

# Names that are also words of medicine or of every day.
WORDLY_FIRST = (
    "May June April Rose Grace Faith Hope Will Mark Bill Art Pat Drew Dawn Joy Ray Sue Rob Frank Guy".split()
)
WORDLY_LAST = (
    "Young Long Brown Green White Black Bell Head Hand Foot"
    " Graves Down Hodgkin Crohn Parkinson Burns Pain Cook"
    " Baker Price Rice Fields Woods Stone Rivers Day Knight King"
    " Bishop Pope Case Love Strong Wise Gray Small Moon"
    " Savage Bone Payne Akers RateLimit Lung Hart Kidney Coughlin Fever Wells Homan Murphy Babinski Romberg"
).split()
EPONYMS = (
    "Parkinson Crohn Hodgkin Alzheimer Down Graves Hashimoto"
    " Cushing Addison Babinski Murphy Romberg Homan Foley"
    " Glasgow Apgar Wilson Huntington Marfan Turner Klinefelter Raynaud Sjogren Barrett Meniere Bell Tourette"
    " Wegener Kawasaki Epstein Barr Guillain Barre Ehlers Danlos Charcot Marie Tooth Colles Bartholin Paget"
    " Dupuytren Baker Mallory Weiss Wernicke Korsakoff Lou"
    " Gehrig Gaucher Fabry Pompe Tay Sachs Gilbert Kaposi"
    " Ewing Wilms Burkitt Peyronie Stevens Johnson Reye Trendelenburg McBurney Rovsing Phalen Tinel Lachman"
    " Whipple Billroth Hartmann Nissen Heller Roux Swan Ganz Hickman Tenckhoff Kirschner Bankart Prader Willi"
).split()
BRANDS = (
    "soft tek data link net med care gen nova bio max web corp labs works cloud logic media trade bank"
).split()
# Endings of generic names (WHO, stem book) and of brands.
DRUG_STEMS = (
    "mab nib pril sartan olol statin azole cillin mycin floxacin vir caine gliptin gliflozin tidine prazole"
    " setron triptan dipine zepam zolam barbital oxetine pramine tiapine peridone done fentanil parin xaban"
    " grel parib ciclib lisib tinib zumab ximab limumab cept glutide lukast terol asone onide thiazide semide"
).split()
BRAND_ENDS = "ra ia ex ix va or iva yx ium axa ena ibra opa eza uvo".split()
TERM_HEADS = (
    "hyper hypo brachy campto poly syn dys micro macro lepto sclero myo cranio hemato lympho keratino"
    " fibro osteo chondro neuro angio cardio hepato nephro tracheo broncho spondylo ecto endo peri intra"
    " trans stereo photo pseudo para iso dicarb xantho leuko erythro melano adeno glyco muco onycho tricho"
    " blepharo gastro entero cysto acro"
).split()
TERM_ROOTS = (
    "dactyl cephal metaphys epiphys dermat mel lip chol neur oste vascul corne retin thorac gloss gnath"
).split()
TERM_ENDS = (
    "ia osis itis oma emia uria plasia trophy pathy algia ectasia rexia osmia kinesia topia genesis"
    " megaly lysis penia opia aminuria dermia phagia pnea clonus aneurysm telorism inosis al ic ous ocyte"
    " acyte ase in oid ium graphy"
).split()
COMPOUND_HEADS = (
    "high low long short well mask port late early non anti self follow check walk drop first second full"
    " part half low pre post over under wide x new old cross short two three multi semi ill bone whole"
    " open"
).split()
COMPOUND_ENDS = (
    "dose term like wine onset set up in off fitting based free related grade risk line marrow chain"
    " specific wide induced fat rich aged born known called sided body field acting level stage acre"
    " handed"
).split()
JOBS = (
    "teacher engineer plumber nurse lawyer accountant farmer driver manager director analyst pilot carpenter"
    " journalist electrician baker clerk architect designer cashier mechanic consultant reporter chef actor"
).split()
