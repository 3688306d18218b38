"""Listening address and public URL of the server: loopback unless TLS or a proxy protects it."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from phiscan.config import Config, DeskTable
from phiscan.errors import ConfigError, InputError
from phiscan.review.accounts.users import Role
from phiscan.web.request_context import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """The listening options of ``phiscan serve``."""

    host: str
    port: int
    open_to_network: bool = False
    public_url: str = ""
    proxies: tuple[str, ...] = ()
    tls_cert: Path | None = None
    tls_key: Path | None = None


def desk_table(config: Config) -> DeskTable:
    """Read ``[desk]``.

    Raises:
        ConfigError: names the field and what was expected.
    """
    table = config.desk
    for name in ("idle_minutes", "session_hours", "max_body_kb"):
        if not 1 <= getattr(table, name) <= 100_000:  # noqa: PLR2004 (weeks; 100 MB)
            message = f"{config.source}: desk.{name}: expected a whole number from 1 to 100000"
            raise ConfigError(message)
    for name in table.second_factor:
        if name not in set(Role):
            message = f"{config.source}: desk.second_factor: {name}: expected roles: {', '.join(Role)}"
            raise ConfigError(message)
    return table


def settings_of(listening: Listening, *, max_body_kb: int = 1024) -> Settings:
    """Return the settings of a server with these listening options.

    Raises:
        InputError: it would serve a network without TLS, or the options contradict each other.
    """
    is_loopback = _is_loopback(listening.host)
    has_tls = listening.tls_cert is not None
    if has_tls != (listening.tls_key is not None):
        message = "expected --tls-cert and --tls-key together"
        raise InputError(message)
    public = _public(listening.public_url)
    for proxy in listening.proxies:
        _checked_network(proxy)
    if listening.proxies and public is None:
        message = "--proxy: expected --public-url too: what browsers call the proxy"
        raise InputError(message)
    if public is not None and public.scheme == "http" and has_tls:
        message = "--public-url: expected https://, because --tls-cert is given"
        raise InputError(message)
    if not is_loopback:
        _may_leave_the_machine(listening, has_public=public is not None, has_tls=has_tls)
    if public is None:
        host = f"[{listening.host}]" if ":" in listening.host else listening.host
        return Settings(
            own_url=f"{'https' if has_tls else 'http'}://{host}:{listening.port}",
            is_https=has_tls,
            max_body_bytes=max_body_kb * 1024,
        )
    name = (public.hostname or "").lower()
    return Settings(
        hosts=(f"[{name}]" if ":" in name else name,),
        own_url=listening.public_url.rstrip("/"),
        is_https=public.scheme == "https",
        max_body_bytes=max_body_kb * 1024,
        proxies=listening.proxies,
    )


def _may_leave_the_machine(listening: Listening, *, has_public: bool, has_tls: bool) -> None:
    host = listening.host
    if not listening.open_to_network:
        message = (
            f"--host {host}: not an address of this machine alone; expected --open-to-network with it, "
            "and TLS (--tls-cert, --tls-key) or a TLS proxy (--public-url https://..., --proxy ADDRESS)"
        )
        raise InputError(message)
    if not has_public:
        message = f"--host {host}: expected --public-url https://NAME, what browsers call this server"
        raise InputError(message)
    if not listening.public_url.startswith("https://"):
        message = "--public-url: expected https://: what is shown here must not cross a network in the clear"
        raise InputError(message)
    if not has_tls and not listening.proxies:
        message = (
            f"--host {host}: expected --tls-cert and --tls-key, or --proxy ADDRESS of the only machine "
            "that may connect, which speaks TLS to browsers"
        )
        raise InputError(message)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        message = f"--host {host}: expected an IP address, or localhost"
        raise InputError(message) from None


def _public(url: str) -> SplitResult | None:
    if not url:
        return None
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in {"http", "https"} and parts.hostname and parts.path in {"", "/"}
        _ = parts.port
    except ValueError:
        is_valid = False
    if not is_valid or parts.query or parts.fragment or parts.username:
        message = f"--public-url {url}: expected https://NAME or https://NAME:PORT"
        raise InputError(message)
    return parts


def _checked_network(text: str) -> None:
    try:
        ip_network(text)
    except ValueError:
        message = f"--proxy {text}: expected an IP address or a network such as 10.0.0.0/24"
        raise InputError(message) from None
