"""Sentences and headings of the surrogate discharge records, written for phiscan, with slots in braces.

Slots that hold PHI: patient, patient_full, kin, doctor, doctor_full, hospital, ward, location, home, date,
phone, id, age.
Slots that do not: condition, drug, procedure, lab, symptom, n, dose, value, years, scale, bp, code, title,
he, kin_word.
"""

from __future__ import annotations

HEADINGS = (
    "HISTORY OF PRESENT ILLNESS :",
    "PAST MEDICAL HISTORY :",
    "MEDICATIONS ON ADMISSION :",
    "PHYSICAL EXAMINATION :",
    "LABORATORY DATA :",
    "HOSPITAL COURSE :",
    "SOCIAL HISTORY :",
    "ALLERGIES :",
    "CONDITION ON DISCHARGE :",
    "FOLLOW UP :",
)

# Sentences without PHI, by heading.
PLAIN = {
    "HISTORY OF PRESENT ILLNESS :": (
        "The patient is a {years} year old with a history of {condition} who presents with {symptom} .",
        "The symptoms began {n} days prior to admission and were worse at night .",
        "There was no {symptom} , no {symptom} and no recent travel .",
        "Two weeks ago the patient was treated with {drug} for presumed {condition} without relief .",
        "In the emergency room the blood pressure was {bp} and the pulse was {n} .",
        "Of note , the patient underwent {procedure} in the past for {condition} .",
        "The pain was rated {scale} and did not radiate .",
        "Right sided {symptom} was noted , and the patient was admitted for {procedure} .",
    ),
    "PAST MEDICAL HISTORY :": (
        "1. {condition} . 2. {condition} . 3. Status post {procedure} .",
        "Significant for {condition} , {condition} and {condition} .",
        "{condition} treated with {drug} , {condition} , and a remote {procedure} .",
        "No known {condition} . Status post {procedure} {n} years ago .",
    ),
    "MEDICATIONS ON ADMISSION :": (
        "{drug} {dose} mg PO daily , {drug} {dose} mg PO b.i.d. , {drug} {dose} mg q.h.s.",
        "{drug} {dose} mg t.i.d. and {drug} {dose} mg p.r.n. pain .",
        "{drug} {dose} mcg IV q. {n} hours , then {drug} {dose} mg .",
    ),
    "PHYSICAL EXAMINATION :": (
        "Vital signs : temperature {value} , blood pressure {bp} , pulse {n} , saturation {n} percent .",
        "HEENT : normal . Neck : supple . Lungs : clear to auscultation . Heart : regular , no murmurs .",
        "Abdomen : soft , non-tender . Extremities : strength was {scale} bilaterally , no edema .",
        "The right leg was warm , pulses were 2/2 , and there were no signs of infection .",
        "Babinski and Romberg negative , Glasgow score {n} , Foley in place , Murphy sign absent .",
        "Neurologic : alert and oriented , reflexes {scale} , gait normal .",
    ),
    "LABORATORY DATA :": (
        "{lab} was {value} , {lab} {value} and {lab} {n} .",
        "Sodium {n} , potassium {value} , {lab} {value} , hematocrit {value} .",
        "MRI and CT of the head were negative ; CBC and LFT normal , PSA {n} , TSH {value} .",
        "Culture grew {n} colonies , accession {code} , sensitive to {drug} .",
        "The chest film showed no {condition} . EKG : normal sinus rhythm at {n} .",
        "{lab} was drawn and came back at {value} , with a repeat of {value} .",
    ),
    "HOSPITAL COURSE :": (
        "The patient was started on {drug} {dose} mg and tolerated it well .",
        "On hospital day {n} the patient had {symptom} , and {drug} was held .",
        "{procedure} was performed without complications .",
        "The {condition} improved with {drug} , and {lab} fell to {value} .",
        "The patient remained afebrile and hemodynamically stable throughout the stay .",
        "The ICU team followed for CHF and COPD , and the PICC line was removed .",
        "Seen by the Cardiac Surgical and Gastrointestinal services , who agreed with {drug} .",
        "It was felt that the {symptom} was due to {condition} rather than {condition} .",
        "Physical therapy evaluated the patient , who could walk {n} feet with a walker .",
        "A course of {drug} was begun for {condition} and is to be continued for {n} days .",
    ),
    "SOCIAL HISTORY :": (
        "No tobacco . Alcohol on occasion . Lives alone and is retired .",
        "Smoked {n} packs per year until {n} years ago . Married with {n} children .",
        "Former smoker . Denies alcohol . Worked as a teacher .",
    ),
    "ALLERGIES :": (
        "{drug} causes {symptom} .",
        "No known drug allergies .",
        "{drug} and {drug} .",
    ),
    "CONDITION ON DISCHARGE :": (
        "Stable , on {drug} {dose} mg daily , activity as tolerated .",
        "Good . Diet : low salt . Code status : full code .",
        "Discharged home with services on {drug} {dose} mg and {drug} {dose} mg .",
    ),
    "FOLLOW UP :": (
        "The patient is to return for {symptom} , {symptom} or fever above {value} .",
        "Repeat {lab} in {n} weeks and adjust {drug} .",
        "Wound check in {n} days .",
        "Return to the Blood Pressure Clinic or the Anticoagulation Center in {n} weeks .",
        "Call for fever or {symptom} ; extra doses of {drug} {dose} mg as in protocol {code} .",
    ),
}

# Sentences with PHI: heading, sentence, mean number in a record.
MARKED = (
    ("HISTORY OF PRESENT ILLNESS :", "{title} {patient} is a {years} year old with {condition} .", 0.25),
    ("HISTORY OF PRESENT ILLNESS :", "{patient_full} was admitted with {symptom} .", 0.05),
    ("HISTORY OF PRESENT ILLNESS :", "The patient was transferred from {hospital} on {date} .", 0.22),
    ("HISTORY OF PRESENT ILLNESS :", "On {date} a {lab} at {hospital} was {value} .", 0.3),
    (
        "HISTORY OF PRESENT ILLNESS :",
        "The patient , an {age} year old resident of {hospital} , fell .",
        0.018,
    ),
    ("HISTORY OF PRESENT ILLNESS :", "{he} was seen by Dr. {doctor} on {date} for {symptom} .", 0.35),
    ("HISTORY OF PRESENT ILLNESS :", "An outside {procedure} on {date} showed {condition} .", 0.25),
    ("PAST MEDICAL HISTORY :", "Status post {procedure} on {date} by Dr. {doctor_full} .", 0.1),
    ("PAST MEDICAL HISTORY :", "Biopsy number {id} of {date} showed {condition} .", 0.12),
    ("PAST MEDICAL HISTORY :", "{procedure} at {hospital} in {date} .", 0.25),
    ("PHYSICAL EXAMINATION :", "Examined on {date} by {doctor} and {doctor} .", 0.06),
    ("LABORATORY DATA :", "{date} : {lab} {value} , {lab} {value} .", 0.35),
    ("LABORATORY DATA :", "Echocardiogram of {date} : ejection fraction {n} percent .", 0.1),
    ("HOSPITAL COURSE :", "{title} {patient} was taken to the operating room on {date} .", 0.3),
    ("HOSPITAL COURSE :", "Dr. {doctor} of {hospital} performed {procedure} .", 0.25),
    ("HOSPITAL COURSE :", "DRS. {doctor_upper} AND {doctor_upper} were consulted for {condition} .", 0.08),
    ("HOSPITAL COURSE :", "The patient was transferred to {ward} in stable condition .", 0.2),
    ("HOSPITAL COURSE :", "On {date} the temperature rose to {value} , and on {date} it was normal .", 0.1),
    ("HOSPITAL COURSE :", "The family spoke to Dr. {doctor_full} {hospital} about {procedure} .", 0.12),
    # The type is only known from the name itself, or from elsewhere in the record.
    ("HOSPITAL COURSE :", "Discussed with {doctor} , who agreed .", 0.12),
    ("HOSPITAL COURSE :", "Discussed with {kin} , who agreed .", 0.05),
    ("HOSPITAL COURSE :", "Discussed with {hospital} , who agreed .", 0.06),
    ("LABORATORY DATA :", "Records from {hospital} were reviewed .", 0.08),
    ("LABORATORY DATA :", "Records from {doctor} were reviewed .", 0.06),
    ("LABORATORY DATA :", "Records from {location} were reviewed .", 0.04),
    ("SOCIAL HISTORY :", "{patient} says so .", 0.04),
    ("FOLLOW UP :", "Will see {doctor} .", 0.08),
    ("FOLLOW UP :", "Will see {hospital} .", 0.05),
    ("FOLLOW UP :", "Number {phone} .", 0.03),
    ("FOLLOW UP :", "Number {id} .", 0.03),
    ("SOCIAL HISTORY :", "{he} lives in {location} with {kin_word} {kin} .", 0.05),
    ("SOCIAL HISTORY :", "The patient lives in {location} .", 0.13),
    ("SOCIAL HISTORY :", "Home address : {home} .", 0.04),
    (
        "SOCIAL HISTORY :",
        "{he} moved here from {location} {n} years ago and works for the {location} .",
        0.025,
    ),
    ("SOCIAL HISTORY :", "Health care proxy is {kin_word} , {kin} , {phone} .", 0.05),
    ("CONDITION ON DISCHARGE :", "Discharged to {hospital} on {date} .", 0.22),
    ("CONDITION ON DISCHARGE :", "Transferred to {hospital} in {location} .", 0.035),
    ("FOLLOW UP :", "Dr. {doctor} at {hospital} on {date} .", 0.3),
    ("FOLLOW UP :", "Please call {phone} with questions .", 0.11),
    ("FOLLOW UP :", "Dr. {doctor_full} , pager number {phone} , will see {title} {patient} .", 0.05),
    ("FOLLOW UP :", "{doctor_comma} in {n} weeks .", 0.12),
    ("FOLLOW UP :", "Stitches out {date} ; {lab} on {date} .", 0.15),
    ("FOLLOW UP :", "The clinic can be reached at {phone} .", 0.04),
)

# How phones are written in the records; the last ones are the odd forms that the paper prints.
PHONES = (
    "617-555-0133", "( 617 ) 555-0133", "555-0133", "x 2133", "beeper 3-4471", "pager # 61882",
    "(692) 673 3025", "917070-7689", "678-233-5033 , x549", "160-6305 , x2644", "337-4296 , 936",
)  # fmt: skip
PHONE_WEIGHTS = (10, 6, 6, 3, 2, 2, 1, 1, 1, 1, 1)

IDS = ("358-51-76", "FMT51 DS", "36644/53t4", "A40-2219", "99-1133", "TR223", "HN 4471")

# Words that are both in the headings and sentences above and medical: they make ambiguous names.
COMMON_WORDS = (
    "right", "signs", "stable", "normal", "pain", "pulse", "lungs", "heart", "biopsy", "neck", "code",
    "regular", "clear", "alert", "wound", "diet", "echocardiogram", "sodium", "potassium", "neurologic",
    "significant", "vital", "abdomen", "physical", "course", "repeat", "good", "former",
)  # fmt: skip

HOSPITAL_FORMS = (
    "{word} Hospital", "{word} Medical Center", "{word} Memorial Hospital", "{word} Community Hospital",
    "{word} and {word} Hospital", "{word} of {word} Medical Center", "{word} Nursing Home",
    "{word} Rehabilitation Center", "{word} Health Clinic", "{word}",
)  # fmt: skip
HOSPITAL_WEIGHTS = (7, 5, 3, 2, 2, 2, 1, 1, 1, 3)
STATES = ("MA", "NH", "Maine", "Ohio", "Texas", "Vermont")
STREETS = ("Street", "Road", "Avenue", "Lane")
RELATIVES = ("daughter", "son", "wife", "husband", "sister", "brother")
