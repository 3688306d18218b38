"""The words of those who treat: professions, short forms, what they do, and the degrees after their names.

Patterns of ``screen/attributes/professionals.py``.
"""

from __future__ import annotations

from phiscan.lexicon.months import MONTH_STEM

# Who treats, in any form that precedes a name or after it. Not "resident": one of a home is one, too.
ROLE = (
    r"(?:surgeons?|(?:an(?:a)?esth(?:etist|esiologist|esia)?|anaes)|nurses?(?:[ ](?:practitioner|manager"
    r"|educator|clinician|specialist|midwife|coordinator|navigator|an(?:a)?esthetist))?|physicians?|doctors?"
    r"|hospitalists?|pharmacists?|prescribers?|podiatrists?|dietiti?cians?|dietitians?|midwi(?:fe|ves)"
    r"|paramedics?|(?:dental[ ])?hygienists?|hygi[ée]nistes?(?:[ ]dentaires?)?|(?:dental|surgical|ultrasound"
    r"|x-?ray|lab)[ ]tech(?:nician)?s?|technologists?|technologues?|technologistes?|perfusionists?"
    r"|sonographers?|orthotists?|prosthetists?|embryologists?|embryologistes?|denturolog(?:ist|iste)s?"
    r"|denturists?|vaccinat(?:ors?|eurs?|rices?)|immunizers?|doulas?|medical[ ](?:examiner|director|monitor"
    r"|officer)s?|genetic[ ]coun?sell?ors?|conseill(?:er|[èe]re)s?[ ]en[ ]g[ée]n[ée]tique|(?:transplant|donor"
    r"|clinical|study|research|trial|discharge|nurse)[ ](?:coordinator|planner)s?|principal[ ]investigators?"
    r"|personal[ ]support[ ]workers?|orderl(?:y|ies)|chaplains?|aum[ôo]ni(?:er|[èe]re)s?|kin[ée]siolog(?:ist"
    r"|ue)s?|masso-?th[ée]rapeutes?|pr[ée]pos[ée]e?s?[ ]aux[ ]b[ée]n[ée]ficiaires|chiropractors?"
    r"|chiropraticien(?:ne)?s?|dentists?|optometrists?|psychologists?|psychiatrists?|physiatrists?"
    r"|pa?ediatricians?|geriatricians?|obstetricians?|internists?|intensivists?|clinicians?|physios?"
    r"|phlebotomists?|(?:physio|psycho|respiratory[ ]|occupational[ ]|physical[ ]|speech[ ]"
    r"|massage[ ])therapists?|(?:cardi|neur|radi|path|onc|ur|nephr|rheumat|dermat|hemat|haemat|immun|pulmon"
    r"|pneum|respir|gyn(?:a)?ec|ophthalm|gastroenter|hepat|endocrin|audi|anesthesi|anaesthesi|neonat"
    r"|otolaryng|microbi|allerg)o?logists?|orthop(?:a)?edists?|social[ ]workers?|care[ ]coordinators?"
    r"|coroners?|consultants?|attendings?|(?:family|fam)[ .](?:md|dr|doc(?:tor)?|physician|practitioner)"
    r"|(?:med|md|dr)[ .]{1,2}(?:trait(?:ant)?|fam)|m[ée]decins?|chirurgien(?:ne)?s?|anesth[ée]sistes?"
    r"|infirmi(?:er|[èe]re)s?(?:[ -](?:auxiliaire|praticienne|clinicienne|chef|pivot|scolaire))?"
    r"|pharmacien(?:ne)?s?|(?:physio|ergo|inhalo|psycho)th[ée]rapeutes?|ergo|inhalo|psychologues?"
    r"|psychiatres?|p[ée]diatres?|podiatres?|g[ée]riatres?|physiatres?|di[ée]t[ée]tistes?|nutritionnistes?"
    r"|orthophonistes?|audiologistes?|dentistes?|optom[ée]tristes?|sages?-femmes?|prescripteur|travailleu(?:r"
    r"|se)s?[ ]social(?:e|es)?|ambulanci(?:er|[èe]re)|intensivistes?|hospitaliste|(?:cardio|neuro|radio|onco"
    r"|uro|n[ée]phro|rhumato|dermato|h[ée]mato|immuno|pneumo|gyn[ée]co|ophtalmo|gastro-?ent[ée]ro|h[ée]pato"
    r"|endocrino|micro-?bio|allergo|ost[ée]opatho|patho)logues?|pathologistes?)"
)
# Short forms, each a word of its own in other texts: only with a sign or a verb after.
SHORT = (
    r"(?:(?-i:RN|R\.N\.|LPN|RPN|NP|MD|GP|PCP|MRP|RPh|OT|RT|SLP|RD|MSW|PA-C|RRT|SW|PSW|CNA|HCA|MLT|MLA|CRNA"
    r"|IPS|SF|PAB)|inf\.?|ipspl|erg\.?|pht\.?|t\.s\.|inh\.?|prof|hosp|on[ -]call|de[ ]garde|garde|fellow"
    r"|charge(?:[ ](?:RN|nurse))?|RN[ ]charge|provider|fournisseur|intervenante?|clinicien(?:ne)?|collector"
    r"|coll|tech(?:nician)?|technicien(?:ne)?|counsell?or|conseill[èe]re?|coordinat(?:or|rice)"
    r"|coordonnat(?:eur|rice)|crew(?:[ ]?\d)?|prov|pharm|op(?:erator)?|reviewer|examiner|signataire"
    r"|circulating|scrub|circ|accoucheuse?|case[ ]manager|therapist|th[ée]rapeute|backup|reported[ ]by)"
)
DONE_BY = (
    r"(?:(?:pr[ée]l\.|read[ ]back,?|collected|drawn|obtained|dictated|transcribed|assessed|re-?assessed"
    r"|administered|given|prescribed|ordered|referred|reviewed|interpreted|performed|cosigned|co-signed"
    r"|authenticated|seen|examined|delivered|charted|dispensed|vaccinated|injected|intubated|followed"
    r"|operated|evaluated|treated|accepted|consulted|triaged|verified|waste[d]?|titrated|attested|narrated"
    r"|narrative|scored|staged|certified|pronounced|implanted|fitted|immuni[sz]ed|counsell?ed|supervised"
    r"|precepted|covered|relieved|compounded|filled|checked|done|typed|charting|reported|logged|refreshed"
    r"|inserted|placed|started|set[ ]up|taught|cleared|screened|enrolled|consented|randomi[sz]ed"
    r"|(?:assessment|evaluation|eval|exam(?:ination)?|consult(?:ation)?|surgery|repair|operation|biopsy"
    r"|replacement))(?:[ ]{1,3}(?:on|at|after|le|the"
    rf"|{MONTH_STEM}[a-zéû]{{0,6}}\.?|[\d/.:h-]{{1,11}}"
    r"|\d{4}-\d\d-\d\d)){0,4}[ ]{1,3}(?:by|par|per|w/|with(?<=n[ ]with))|(?-i:[A-Z]{2,6}[ ]by|(?:XM|RX|TX|DX"
    r"|HX|CXM)[ ]BY)|(?:orders?|vitals|protocol|verbal|v\.?o\.?|t\.?o\.?)[ ](?:per|from)|taking[ ]over[ ]from"
    r"|(?:handed|hand)[ -]?(?:over|off)[ ]to|sign(?:ed)?[ -]?out[ ]to|endorsed[ ]to|report[ ](?:given"
    r"|called)[ ](?:to|by)|(?:appt|appointment|f/u|follow-?up|rdv|rendez-vous|consult)[ ](?:with|w/|avec)"
    r"|under[ ]the[ ]care[ ]of|sous[ ]les[ ]soins[ ]d[eu]|aux[ ]bons[ ]soins[ ]d[eu]|(?:compat|cross-?match"
    r"|valid[ée]e?|sign[ée]e?)[ ]par|[àa][ ]jour[^\n:]{0,30}[ ]par|(?:pr[ée]lev|prescri|v[ué]|rev[ué]"
    r"|[ée]valu|r[ée][ée]valu|examin|dict|administr|r[ée]f[ée]r|r[ée]dig|interpr[ée]t|op[ée]r|suivi|effectu"
    r"|trait|v[ée]rifi|transcri|ex[ée]cut|install|administr|enseign|soign|orient|accompagn|compl[ée]t|autoris"
    r"|appuy|pratiqu|vaccin|appels[ ]fait)(?:[ée]|t|s|u)?e?s?[ ](?:par|avec)|(?:consultation|chirurgie"
    r"|[ée]valuation|visite|suivi)[ ](?:par|avec|chez)|waste[ ]\S{1,8}[ ]w/|accepted"
    r"|next[ ]\d[\d/.-]{2,9}[ ]w/)"
)
GAP = r"(?:[\"'_ .]{0,12}(?:\([^()\n]{1,16}\)[ ]{0,2})?[:=>|\t][ \t\"'\[]{0,12}|[ ]{2,12})"
TITLE = r"(?:dr|dre|docteure?|doctor|prof)[ .]{1,5}_{0,20}[ ]?"
NAME_KEY = r"(?:full_?)?(?:name|nom|display|text|family|last|first|given|prenom|lastName|firstName)"
CREDENTIAL = (
    r"(?:M\.?D\.?|D\.O\.|R\.?N\.?|N\.?P\.?|P\.?A\.?-C\.?|PharmD|D\.?D\.?S\.?|D\.?M\.?D\.?|R\.?Ph\.?"
    r"|F\.?R\.?C\.?[PS]\.?\(?C?\)?|FACS|FACP|FACC|CCFP|CRNA|CNM|LPN|RPN|RNA?|APRN|ARNP|DNP|FNP(?:-(?:C|BC))?"
    r"|BSc?N|MScN|MSN|MBBS|MBChB|MSW|LCSW|L[I]?SW|RSW|PsyD|C\.?Psych|DPT|MPT|PTA|COTA|OTR(?:/L)?|SLP(?:-CCC)?"
    r"|DPM|RRT|RDH|RMT|IPSPL|CMQ|LVN|PMHNP|LCADC|LPC|LMFT|LICSW|CNS|CDE|FMCQ|O\.?D\.|MLS|MLT|MLA|CHN|CNA|PSW"
    r"|HCA|IPS|IBCLC|CCRC|CCRP|CGC|RPSGT|NSWOC|WOCN|AuD|CPhT|RPhT|RDMS|PAB|BSc[ .]?Pharm|B\.?Pharm"
    r"|B\.?N\.?(?=[ ,]{1,2}RN)|(?:RM|SF|SW|TM|ACP|PCP|CHW|CHR)(?=[ ]?(?:[.,;)|\n]|[ ]{2}|[ ]\(|$))|R?(?:OT|PT"
    r"|RD|RT|SLP|RDN)(?=[ ]{0,2}(?:\(|Reg|[,.;)|\n]|$))|(?:OT|PT)[ ]Reg\b|inf\.?(?:[ ](?:aux|clin|prat)\.?)?"
    r"|i\.a\.|pht\.?|erg\.?|ped\.|p[ée]d\.|t\.s\.|T\.S\.|inh\.|m\.d\.|md|rn|np|rph|pa-c|d\.o\.|(?:lpn|lvn"
    r"|pmhnp|fnp|aprn|rpn|psw|slp|msw|pta|cna|hca|pharmd|hyg\.?[ ]dent\.|t\.m\.|pab)(?=[ ]?(?:[.,;:)|\n]"
    r"|[ ]{2}|$)))"
)
# Kinship and other relations to a patient: the one list of all patterns.
KIN = (
    r"(?:wife|husband|spouse|partner|son|daughter|mother|father|mom|mum|dad|brother|sister|child|baby|infant"
    r"|parents?|aunt|uncle|cousin|niece|nephew|grand(?:mother|father|son|daughter|ma|pa)|friend|neighbou?r"
    r"|guardian|nok|kin|[ée]pouse|[ée]poux|conjointe?|mari|(?<!sage-)femme|fils|fille|m[èe]re|p[èe]re"
    r"|fr[èe]re|s(?:oe|œ)ur|tante|oncle|enfant|b[ée]b[ée]|tut(?:eur|rice)|voisine?|amie?|poa|sdm|caregiver"
    r"|proche[ ]aidante?)"
)
