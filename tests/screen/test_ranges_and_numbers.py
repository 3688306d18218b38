"""Days in their forms, ranges of days and of values, numbers of forms, versions, years of birth, eponyms.

The first sentences of each kind follow public reports about other tools.
"""

import datetime as dt

import pytest

from tests.screen.whole import screened, values


def _found(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for finding in screened(text).findings:
        if not finding.is_doubtful:
            found.setdefault(str(finding.entity_type), []).append(finding.span.of(text).rstrip("."))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("From 3-5 March she was in ICU.", ["3-5 March"]),
        ("She was off work between 9 and 11 June.", ["9 and 11 June"]),
        ("He was in hospital Feb 3rd-9th, 2026 and again from the 14th to the 16th.",
         ["Feb 3rd-9th, 2026", "14th to the 16th"]),
        ("Home leave 10/1-11/2/2017.", ["10/1-11/2/2017"]),
        ("Symptoms since Mar/26.", ["Mar/26"]),
        ("She stayed 12-14 June.", ["12-14 June"]),
        ("Admitted 3rd to 5th March with pneumonia.", ["3rd to 5th March"]),
        ("Iron on 9, 10 and 12 July.", ["9, 10 and 12 July"]),
        ("Leave 10/28-11/2/2017.", ["10/28-11/2/2017"]),
        ("Away 28/10-2/11/2017.", ["28/10-2/11/2017"]),
        ("Off 3/1/24-3/9/24.", ["3/1/24-3/9/24"]),
        ("Pain since Oct/25, worse Feb/26.", ["Oct/25", "Feb/26"]),
        ("Her period was from the 3rd to the 9th.", ["3rd to the 9th"]),
        ("Bleeding on the 14th, 16th and 17th.", ["14th, 16th and 17th"]),
        ("du 3 au 5 mars elle était hospitalisée", ["3 au 5 mars"]),
        ("From March 30 to April 2 he was in ICU", ["March 30", "April 2"]),
        ("Seen 4 & 6 May 2024.", ["4 & 6 May 2024"]),
        ("Symptoms since Mar/2026.", ["Mar/2026"]),
        ("In hospital Jan 30-Feb 2, 2026.", ["Jan 30-Feb 2, 2026"]),
        ("Seizures on March 3, 5 and 9.", ["March 3, 5 and 9"]),
        ("Bled Mar 3rd through the 9th.", ["Mar 3rd through the 9th"]),
        ("Bled Feb 3rd, 5th, 9th", ["Feb 3rd, 5th, 9th"]),
        ("Seen the 14th-16th.", ["14th-16th"]), ("Seen on the 14th & 16th.", ["14th & 16th"]),
        ("Nights of 30/31 March.", ["30/31 March"]),
        ("Stayed 04.06.-07.06. and 03.08.15-04.08.15", ["04.06.-07.06", "03.08.15-04.08.15"]),
        ("Off from 1-11/2/2017.", ["1-11/2/2017"]),
        ("14-Mar-26 to 16-Mar-26", ["14-Mar-26", "16-Mar-26"]),
        ("entre le 9 et le 11 juin", ["9 et le 11 juin"]),
        ("War vom 3.–5. März stationär.", ["3.–5. März"]),  # noqa: RUF001 (texts are written with it)
        ("am 14. Oktober 2025 und 3. August", ["14. Oktober 2025", "3. August"]),
        ("van 3 tot 5 maart 2024", ["3 tot 5 maart 2024"]),
        ("dal 3 al 5 marzo 2024", ["3 al 5 marzo 2024"]),
        ("nascida em 14 de março de 1951", ["14 de março de 1951"]),
        ("3-5 day history of cough", None),
        ("wound at the 5th to the 7th rib", None),
        ("ratio 10/1-11/2 noted", None),
        ("weight fell from the 50th to the 25th percentile", None),
        ("Open Mar/Apr only", None),
        ("Nodes 3/14 positive, margins clear by 1-2 mm", None),
        ("10-12-14 mm", None),
        ("2/22 pelvic nodes", None),
        ("vaccines at 2/12 and 4/12 of age", None),
        ("seen the 3rd and 4th toes", None),
    ],
)  # fmt: skip
def test_every_day_of_a_range_is_found_and_what_only_looks_like_days_is_not(
    text: str, expected: list[str]
) -> None:
    assert _found(text).get("DATE") == expected


@pytest.mark.parametrize(
    "text",
    [
        "Arterial blood gas reference: pH 7.35-7.45, pCO2 35-45 mmHg, HCO3 22-26 mmol/L.",
        "Venous gas: ph 7.32-7.42", "pH: 7.350-7.450 (7.412)",
        "OMB No. 1545-0008. Control number A1B2. Diagnosis ICD-10: E11.9.",
        "ph 7.28 - 7.31 on repeat gas", "Ph: 7.1 (7.25)", "Urine pH 5.0-8.0, SG 1.005-1.030",
        "pH 7.123, 7.234, 7.345", "App version 10.2.14.3 installed; firmware 4.10.22.1",
        "See section 4.2.1.3 and 10.11.12.13 of the protocol",
        "OID 2.16.840.1.113883.4.1 in template 1.2.840.10008.5.1.4.1.1.2",
        "OMB Control No. 0938-0999", "Form Approved OMB No. 0960-0566",
        "Diagnosis ICD-10-CM: Z79.4, CPT 99213, ICD-9 250.00",
        "Reference 3.50-5.10 (4.20) mmol/L; ph: 7.40-7.50 (7.44)", "Ferritin 4125 (ref 30-400)",
        "Installed client 10.4.12.7 on the kiosk", "OpenSSL 1.1.1.23, .NET 4.8.1.0",
        "Standard 5.1.10.2 (accreditation) was met", "upgraded from 2.1.3.4 to 2.1.3.5",
        "3.1.2.4 Scope of the policy", "UMLS C0011849, ISSN 2049-3630",
    ],
)  # fmt: skip
def test_values_versions_and_numbers_of_forms_identify_nobody(text: str) -> None:
    assert not _found(text).keys() & {"PHONE", "FAX", "IP", "OTHER_ID"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ph 506-555-0142 for the result", "PHONE"), ("Ph: 506.555.0142", "PHONE"),
        ("Tel: 1.506.555.0142", "PHONE"), ("Logged in from 192.168.10.24", "IP"), ("ID: 4455667", "OTHER_ID"),
        ("host pacs01 (10.4.12.7)", "IP"), ("10.20.30.40 - - [14/Aug/2024:09:12:44]", "IP"),
        ("ip=10.4.12.7", "IP"),
    ],
)  # fmt: skip
def test_numbers_of_people_stay_found(text: str, kind: str) -> None:
    assert kind in _found(text)


@pytest.mark.parametrize(
    "form",
    [
        "Born in {}, widow.", "year of birth {}", "YOB: {}", "née en {}", "b. {}, retired", "a {}-born lady",
        "DOB {}", "born circa {}",
    ],
)  # fmt: skip
def test_a_year_of_birth_says_an_age_over_89(form: str) -> None:
    this_year = dt.datetime.now(dt.UTC).year
    assert "AGE_OVER_89" in _found(form.format(this_year - 95))
    assert "AGE_OVER_89" not in _found(form.format(this_year - 80))


@pytest.mark.parametrize(
    "text",
    [
        "Patient has an Austin Flint murmur; echo shows severe aortic regurgitation.",
        "Sister Mary Joseph nodule present, CT shows ovarian cancer.",
        "ECG consistent with Wolff Parkinson White, no syncope, started flecainide.",
        "Skin biopsy: Stevens Johnson. Stop lamotrigine.", "Klippel Feil with stenosis, MRI ordered.",
        "Emery Dreifuss. Pacemaker inserted for complete heart block.",
        "Ramsay Hunt with facial palsy, valacyclovir started.", "Guillain Barre, IVIG for five days.",
        "Genetic panel: Lesch Nyhan. Start allopurinol.", "Peutz Jeghers, colonoscopy shows polyps.",
        "Graham Steell murmur heard.", "Gilles de la Tourette, on risperidone.",
        "Graham Little with scarring alopecia.", "Treacher Collins with hearing loss.",
        "Johnson and Johnson vaccine given, sore arm.", "Harris Benedict: 1600 kcal. Cockcroft Gault 55.",
        "Loeys Dietz, aortic root 44 mm.", "Beckwith Wiedemann, neonatal hypoglycemia.",
        "Charles Bonnet with hallucinations.", "Birt Hogg Dube, pneumothorax.", "Ivor Lewis planned.",
        "Shy Drager, orthostatic hypotension.", "Foster Kennedy on fundoscopy.",
        "Lou Gehrig's disease leaflet.",
        "Denis Browne boots.", "Gordon Holmes syndrome, ataxia.", "Johnson & Johnson sponsor the course.",
        "Dr. Scholl's insoles for plantar fasciitis.", "Jack Daniels every night.",
        "Princess Margaret shares the protocol.", "The Ann Beaulieu Award for asthma research",
    ],
)  # fmt: skip
def test_an_eponym_of_several_words_is_nobody(text: str) -> None:
    assert "PERSON" not in _found(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ines Morel's dementia is worse.", "Ines Morel"), ("Mrs. Morel's fracture healed.", "Morel"),
        ("Ines Morel lymphoma stage IV", "Ines Morel"), ("Ines Morel hernia repair Tuesday.", "Ines Morel"),
        ("Ines Morel stage 4 lung cancer", "Ines Morel"), ("Gordon Holmes has gout.", "Gordon Holmes"),
        ("Abdulrahman al-Farsi started methadone.", "Abdulrahman al-Farsi"),
    ],
)  # fmt: skip
def test_an_illness_after_a_name_is_no_eponym_of_it(text: str, name: str) -> None:
    assert name in _found(text).get("PERSON", [])


DAYS = ("DATE", "DATE_OF_BIRTH")


@pytest.mark.parametrize(
    "before", ["labs", "Bx", "hier", "RNI le", "reporté au", "due", "moved to the", "fall"]
)
@pytest.mark.parametrize("day", ["4/2/24", "12/5/2023", "12.05.2024", "2024-04-02", "5th of March 2024"])
def test_a_word_before_a_day_hides_none_of_it(before: str, day: str) -> None:
    assert values(f"{before} {day}, ok\n", *DAYS) == [day]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("03/05 0800 Lasix 40 mg PO   KS", ["03/05"]),
        ("MRI 3/4 clear", ["3/4"]),
        ("no falls since Thanksgiving.", ["Thanksgiving"]),
        ("INR le 12. Elle va bien", ["le 12"]),
        ("DOB: 1962 03 14", ["1962 03 14"]),
        ("née le 14 mars 62", ["14 mars 62"]),
        ("Strength 4/5, pain 6/10, murmur 2/6", []),
        ("Open Mon-Fri 9-5, Sat 10-2", []),
        ("Clinic closed on Christmas Day", []),
        ("BiPAP 14/7, Benicar 20/5, PHQ-9: 11/27", []),
        ("Merry Christmas to all", []),
        ("le 811, option 2", []),
    ],
)
def test_finds_days_as_notes_have_them_and_leaves_scores_hours_and_wishes(text: str, days: list[str]) -> None:
    assert values(text, *DAYS) == days
