"""Archives made in memory, for tests of what is packed in them."""

import io
import zipfile
from collections.abc import Mapping


def zipped(members: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a ZIP archive of members by their names."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()
