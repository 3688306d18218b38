"""PDF files written object by object, for tests that need objects which no library writes."""

# The patient of all cases.
PATIENT = "Patient: Lena Okafor, DOB 1951-03-14, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
FONT = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
PARKING = "BT /F1 12 Tf 72 740 Td (Parking is free after six.) Tj ET\n"
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NAMES = {" ": "space", ":": "colon", ",": "comma", "-": "hyphen", ".": "period"}
_NAMES |= {str(digit): name for digit, name in enumerate(_DIGITS)}


class Pdf:
    """A file of one page (object 3) with the content of object 4, and any further objects."""

    def __init__(
        self, content: str | bytes = PARKING, *, page: str = "", fonts: str = "", catalog: str = ""
    ) -> None:
        self.objects: dict[int, bytes] = {}
        self.set(1, f"<</Type/Catalog/Pages 2 0 R {catalog}>>")
        self.set(2, "<</Type/Pages/Kids[3 0 R]/Count 1>>")
        self.set_page(page, fonts)
        self.stream(content, number=4)
        self.set(5, FONT)
        self._last = 10

    def set(self, number: int, body: str | bytes) -> int:
        """Write one object."""
        self.objects[number] = body.encode("latin-1") if isinstance(body, str) else body
        return number

    def set_page(self, page: str = "", fonts: str = "", resources: str = "") -> None:
        """Write the page with further entries, fonts and resources."""
        self.set(
            3,
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
            f"/Resources<</Font<</F1 5 0 R {fonts}>> {resources}>> {page}>>",
        )

    def add(self, body: str | bytes) -> int:
        """Write the next object and return its number."""
        self._last += 1
        return self.set(self._last, body)

    def stream(self, data: str | bytes, entries: str = "", number: int = 0) -> int:
        """Write a stream and return its number."""
        raw = data.encode("latin-1") if isinstance(data, str) else data
        body = f"<<{entries}/Length {len(raw)}>>\nstream\n".encode("latin-1") + raw + b"\nendstream"
        return self.set(number, body) if number else self.add(body)

    def own_font(self) -> tuple[int, str]:
        """Write a font with codes of its own; return its number and the patient in its codes."""
        chars = sorted(set(PATIENT))
        names = "".join(f"/{_NAMES.get(char, char)}" for char in chars)
        font = self.add(
            f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[1 {names}]>>>>"
        )
        return font, "".join(f"{chars.index(char) + 1:02X}" for char in PATIENT)

    def data(self, trailer: str = "") -> bytes:
        """Return the file."""
        out, places = bytearray(b"%PDF-1.7\n"), {}
        for number, body in sorted(self.objects.items()):
            places[number] = len(out)
            out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
        start, size = len(out), max(places) + 1
        out += b"xref\n0 %d\n0000000000 65535 f \n" % size
        for number in range(1, size):
            out += b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n"
        out += b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (
            size,
            trailer.encode(),
            start,
        )
        return bytes(out)
