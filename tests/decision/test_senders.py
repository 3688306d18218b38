"""Mails in which the ill person is only named as the sender, and mails by the same people about others."""

import numpy as np
import pytest

from phiscan.decision.evidence import NAMES_OF_EVIDENCE, gather
from phiscan.health.term_lexicon import load_lexicon
from phiscan.model import Referral
from phiscan.screen import screen
from tests.decision.test_decide import engine, judged
from tests.screen.whole import plain

NAME = NAMES_OF_EVIDENCE.index("full_name")
SENDERS = ("Ottilie Brandvold", "Hakim Benassar", "Gwendolyn Farrow", "Étienne Laframboise")
ILL = (
    ("Off today", "I have a migraine again and will not be in before Thursday."),
    ("Surgery next week", "My knee replacement is on Monday, so please give my shifts to somebody else."),
    ("Wednesday", "I see the oncologist about my lymphoma on Wednesday morning, back at two."),
    ("Leave", "The doctor put me on sertraline for my depression and wants me to stay at home for a month."),
    ("Pneumonia, not coming in", "As the subject says. See you in a week or so."),
    (
        "My daughter",
        "My daughter was diagnosed with type 1 diabetes yesterday, I am at the hospital.",
    ),
    ("Retard ce matin", "Je sors de dialyse à dix heures, je serai au bureau vers onze heures."),
    ("Absence", "On m'a diagnostiqué un cancer du sein, je commence la chimiothérapie lundi."),
    ("Congé", "Je fais une crise d'asthme depuis hier soir et je reste à la maison aujourd'hui."),
    ("Home visit", "Since my stroke I cannot climb the stairs, could we meet on the ground floor?"),
)
OTHERS = (
    ("Off today", "My car is at the garage and I will not be in before Thursday."),
    ("Sale next week", "The spring sale is on Monday, so please put the signs up before the weekend."),
    ("Wednesday", "I meet the auditor about my forecast on Wednesday morning, back at two."),
    ("Leave", "The flight is on the third and I want to stay at the sea for a month."),
    ("Flu shots", "The flu vaccine is given in room 4 from Monday, everybody is welcome."),
    ("Library", "The book about diabetes that the school ordered is here, shelf 12."),
    ("Retard ce matin", "Le train est en panne, je serai au bureau vers onze heures."),
    ("Absence", "La campagne contre le cancer du sein commence lundi, affiches à l'accueil."),
    ("Congé", "Je suis en vacances depuis hier soir et je reste à la maison aujourd'hui."),
    ("Offices", "Since the move I cannot find the printer, could we meet on the ground floor?"),
)


def mail(number: int, subject: str, body: str) -> str:
    sender = SENDERS[number % len(SENDERS)]
    return f"From: {sender} <a{number}@example.org>\nTo: office@example.org\nSubject: {subject}\n\n{body}\n"


def test_who_writes_about_their_own_illness_is_the_person_in_question() -> None:
    found = [judged(mail(number, *one)).decision for number, one in enumerate(ILL)]
    assert sum(one.referral is Referral.REFERRED for one in found) >= len(ILL) - 2
    # The passage that an officer is shown begins with the sender, whom the reasons count as named in it.
    text = mail(0, *ILL[0])
    shown = judged(text).decision.passage
    assert shown is not None
    assert text[shown.start : shown.end].startswith(SENDERS[0])


def test_a_sender_alone_refers_nothing() -> None:
    found = [judged(mail(number, *one)).decision for number, one in enumerate(OTHERS)]
    assert sum(one.referral is Referral.REFERRED for one in found) <= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (mail(0, "Asthma", "It is worse today."), 1),
        (f"To: {SENDERS[0]}\nSubject: Asthma\n\nIt is worse today.\n", 0),  # who got it did not write it
        (f"From: {SENDERS[0]}\n\nasthma\n", 0),  # a field by itself is no header
        (mail(0, "Asthma", "-\n" * 1500 + "It is asthma."), 0),  # too far above
    ],
)
def test_the_sender_counts_for_the_passages_below_the_header(text: str, expected: int) -> None:
    document = plain(text)
    gathered = gather(document, screen(document, engine().screener), load_lexicon())
    vectors = gathered.vectors(gathered.windows())
    sent, senders = gathered.with_sender(vectors)
    assert vectors[-1, NAME] == 0
    assert (sent[-1, NAME], senders[-1] >= 0) == (expected, bool(expected))
    assert np.all(sent >= vectors)
