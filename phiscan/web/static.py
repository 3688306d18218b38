"""Style sheets and scripts, read once; an address contains the hash, so that it can be cached forever."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources

from phiscan.language import SOURCE, current, gettext
from phiscan.report.rendering.html import report_css

_MESSAGE = re.compile(r'\b_\("([^"\\]+)"')  # a marked message of a script


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One static file."""

    content: bytes
    media_type: str
    digest: str


@dataclass(frozen=True, slots=True)
class Static:
    """The files of ``phiscan/web/static`` by name and the report's styles; no other file is served."""

    files: dict[str, StaticFile]
    script_messages: tuple[str, ...] = ()

    @classmethod
    def load(cls) -> Static:
        """Read the files."""
        files = {}
        for entry in resources.files("phiscan.web").joinpath("static").iterdir():
            if entry.is_file() and not entry.name.startswith("."):
                content = entry.read_bytes()
                media_type = mimetypes.guess_type(entry.name)[0] or "application/octet-stream"
                files[entry.name] = StaticFile(content, media_type, sha256(content).hexdigest()[:16])
        content = report_css().encode()
        files["report.css"] = StaticFile(content, "text/css", sha256(content).hexdigest()[:16])
        scripts = b"\n".join(one.content for name, one in files.items() if name.endswith(".js"))
        return cls(files, tuple(dict.fromkeys(_MESSAGE.findall(scripts.decode()))))

    def messages(self) -> dict[str, str]:
        """Return the messages of the scripts, ``_("...")``, in the current language; empty for English."""
        if current() == SOURCE:
            return {}
        return {message: gettext(message) for message in self.script_messages}

    def url(self, name: str) -> str:
        """Return the address of a file.

        Raises:
            KeyError: there is no such file.
        """
        return f"/static/{self.files[name].digest}/{name}"
