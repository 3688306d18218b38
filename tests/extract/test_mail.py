import email.message
from collections.abc import Callable

from phiscan.model import Document, FailReason
from tests.extract.packages import zipped

Read = Callable[..., Document]


def message(subject: str = "Résumé for Zoé") -> email.message.EmailMessage:
    mail = email.message.EmailMessage()
    mail["From"] = "Ann Roy <ann@example.org>"
    mail["To"] = "Dr. Côté <cote@example.org>"
    mail["Subject"] = subject
    mail["Date"] = "Mon, 1 Jan 2024 10:00:00 +0000"
    mail.set_content("plain body words\n")
    mail.add_alternative("<html><body><p>html <b>body</b> words</p></body></html>", subtype="html")
    return mail


def test_reads_headers_and_all_bodies(read: Read) -> None:
    document = read(message().as_bytes(), "m.eml")
    assert "Subject: Résumé for Zoé" in document.text
    assert "To: Dr. Côté <cote@example.org>" in document.text
    assert document.locate(document.text.index("plain body")) == "#body"
    assert document.locate(document.text.index("html body words")) == "#body2"


def test_reads_attachments_through_containers(read: Read) -> None:
    mail = message()
    data = zipped({"inner.txt": "Lena Okafor"})
    mail.add_attachment(data, maintype="application", subtype="zip", filename="scan.zip")
    document = read(mail.as_bytes(), "m.eml")
    assert document.locate(document.text.index("Lena Okafor")) == "scan.zip!/inner.txt"
    assert "Attachment: scan.zip" in document.text


def test_reads_messages_within_messages(read: Read) -> None:
    outer = message("outer")
    outer.add_attachment(message("inner subject"))
    document = read(outer.as_bytes(), "m.eml")
    assert document.locate(document.text.index("inner subject")) == "message1.eml#headers"


def test_reads_a_mailbox_message_by_message(read: Read) -> None:
    data = b"".join(
        b"From ann@example.org Mon Jan  1 10:00:00 2024\n" + message(f"number {n}").as_bytes() + b"\n\n"
        for n in (1, 2)
    )
    document = read(data, "box.mbox")
    assert document.media_type == "application/mbox"
    assert document.locate(document.text.index("number 2")) == "message2.eml#headers"


def test_a_broken_attachment_is_an_unread_part_only(read: Read) -> None:
    mail = message()
    mail.add_attachment(b"PK\x03\x04 broken", maintype="application", subtype="zip", filename="bad.zip")
    document = read(mail.as_bytes(), "m.eml")
    assert "plain body words" in document.text
    assert [(part.locator, part.reason) for part in document.unread] == [("bad.zip", FailReason.CORRUPT)]


def test_reads_a_mailbox_that_does_not_begin_with_a_message(read: Read) -> None:
    assert "Ann Roy" in read(b"notes on Ann Roy, no mail at all\n", "a.mbox").text
    mails = b"\nFrom x@y Mon Jan 1\nFrom: a@b.c\nTo: d@e.f\n\none\n\nFrom x@y Mon Jan 2\nFrom: a@b.c\n\ntwo\n"
    document = read(mails, "a.mbox")
    assert [part.locator for part in document.segments] == [
        "message1.eml#headers",
        "message1.eml#body",
        "message2.eml#headers",
        "message2.eml#body",
    ]


def test_reads_what_stands_around_the_parts(read: Read) -> None:
    mail = (
        b"From: a@b.c\nTo: d@e.f\nContent-Type: multipart/mixed; boundary=X\n\nfor Ann Roy\n"
        b"--X\nContent-Type: text/plain\n\nbody\n--X--\nand Lena May\n"
    )
    document = read(mail, "a.eml")
    assert "for Ann Roy\nand Lena May" in document.text
