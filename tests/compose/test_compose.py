"""docker-compose.yml and Dockerfile: services hardened, secrets as files, no way out for the workers."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from phiscan.cli import app
from phiscan.config import load_config
from phiscan.schedule import read_schedules
from tests.needs import needs

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = [name for name in SERVICES if name != "postgres"]


def test_has_the_services() -> None:
    assert set(SERVICES) == {"postgres", "dask-scheduler", "worker", "scheduler", "web"}


@pytest.mark.parametrize("name", SERVICES)
def test_service_is_hardened(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    profile = ["seccomp=./compose/seccomp.json"] if name in OURS else []
    assert service["security_opt"] == ["no-new-privileges:true", *profile]
    assert int(service["user"].split(":")[0]) > 0
    assert any(mount.startswith("/tmp:") for mount in service["tmpfs"])  # noqa: S108 (of the container)
    limits = service["deploy"]["resources"]["limits"]
    assert {"cpus", "memory"} <= set(limits)
    assert service["pids_limit"] <= 400
    assert service["healthcheck"]["test"][0] == "CMD"
    assert service["networks"]
    assert "network_mode" not in service
    assert "docker.sock" not in str(service.get("volumes"))


@pytest.mark.parametrize("name", SERVICES)
def test_image_is_pinned(name: str) -> None:
    image = SERVICES[name]["image"]
    assert re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+)?(-[a-z]+)?", image), image


@pytest.mark.parametrize("name", SERVICES)
def test_secret_is_a_file_and_never_a_variable(name: str) -> None:
    for variable, value in SERVICES[name].get("environment", {}).items():
        secret = any(word in variable for word in ("PASSWORD", "SECRET", "DATABASE", "KEY"))
        assert not secret or str(value).startswith("/run/secrets/"), variable
    for secret in SERVICES[name].get("secrets", []):
        assert COMPOSE["secrets"][secret]["file"].startswith("./compose/secrets/")
    assert (ROOT / "compose/secrets/.gitignore").read_text().splitlines()[1] == "*"


def test_share_is_mounted_read_only_everywhere() -> None:
    mounts = [volume for name in OURS for volume in SERVICES[name].get("volumes", [])]
    assert sum("/srv/share" in mount for mount in mounts) == 3
    assert all(mount.endswith(":ro") for mount in mounts if mount.startswith(("./", "${")))


def test_workers_reach_the_dask_scheduler_and_nothing_else() -> None:
    assert SERVICES["worker"]["networks"] == ["cluster"]
    assert SERVICES["postgres"]["networks"] == ["store"]
    assert COMPOSE["networks"]["cluster"]["internal"] is True
    assert COMPOSE["networks"]["store"]["internal"] is True
    assert {name for name in SERVICES if "ports" in SERVICES[name]} == {"web"}
    assert all(port.startswith("127.0.0.1:") for port in SERVICES["web"]["ports"])
    assert "home:/var/lib/phiscan:ro" in SERVICES["worker"]["volumes"]


def test_dask_is_encrypted() -> None:
    assert "--tls" in SERVICES["dask-scheduler"]["command"]
    assert any(word.startswith("tls://") for word in SERVICES["worker"]["command"])
    config = load_config(ROOT / "compose/phiscan.toml", environ={})
    (nightly,) = read_schedules(config)
    assert "tls://dask-scheduler:8786" in nightly.options
    named = tomllib.loads((ROOT / "compose/phiscan.toml").read_text())["cluster"].values()
    assert {Path(place).name for place in named} <= set(SERVICES["worker"]["secrets"])


@pytest.mark.parametrize("name", OURS)
def test_command_is_one_of_the_program(name: str) -> None:
    command: list[str] = SERVICES[name]["command"]
    group: click.Command | None = app
    context = click.Context(app)
    words = list(command)
    while isinstance(group, click.Group):
        group = group.get_command(context, words.pop(0))
    assert group is not None
    options = {option for parameter in group.params for option in parameter.opts}
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= options


def test_dockerfile_pins_its_base_and_runs_as_somebody() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^ARG PYTHON=python:\d+\.\d+\.\d+-slim-bookworm$", text, re.MULTILINE)
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${PYTHON}", "${PYTHON}"]
    assert re.findall(r"^USER (\S+)", text, re.MULTILINE) == ["10001:10001"]
    assert "-c constraints.txt" in text
    assert "ADD " not in text
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    wanted = {word for line in copied for word in line.split()}
    assert all((ROOT / word).exists() for word in wanted)
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert wanted == kept


def _config(text: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Let Docker Compose itself read the file and write it with everything filled in."""
    plugin = ["docker", "compose"]
    if shutil.which("docker") is None or subprocess.run([*plugin, "version"], capture_output=True).returncode:  # noqa: PLW1510 (asked, not demanded)
        program = needs("docker-compose")["docker-compose"]
        plugin = [program]
        version = subprocess.run([program, "version", "--short"], capture_output=True, text=True, check=True)
        if version.stdout.startswith("1."):  # older than the property "name"; it reads all the rest
            text = re.sub(r"^name: .*\n", "", text, flags=re.MULTILINE)
    return subprocess.run(
        [*plugin, "--file", "-", "--project-directory", str(ROOT), "config"],
        env={"PATH": os.environ["PATH"], **environ},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


def test_docker_compose_accepts_the_file() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    done = _config(text, PHISCAN_SHARE="/srv/clinic", PHISCAN_URL="https://phiscan.example")
    assert done.returncode == 0, done.stderr
    found = yaml.safe_load(done.stdout)
    services = found["services"]
    assert set(services) == set(SERVICES)
    assert {name for service in services.values() for name in service["networks"]} == set(found["networks"])
    assert all(service["read_only"] and service["init"] for service in services.values())
    assert "/srv/clinic" in str(services["worker"]["volumes"])
    assert "--public-url=https://phiscan.example" in services["web"]["command"]
    unsaid = _config(text, PHISCAN_URL="https://phiscan.example")
    assert unsaid.returncode
    assert "the folder to scan" in unsaid.stderr
    broken = text.replace("    pids_limit: 200\n", "    pids_limits: 200\n", 1)
    assert _config(broken, PHISCAN_SHARE="/srv/clinic", PHISCAN_URL="x").returncode


def test_linters_find_nothing_to_say(tmp_path: Path) -> None:
    programs = needs("dclint", "dockerfile-utils")
    compose = [programs["dclint"], "--max-warnings", "0", "--config", str(ROOT / ".dclintrc.yaml")]
    dockerfile = [programs["dockerfile-utils"], "lint"]
    for command, name, good, bad in (
        (compose, "docker-compose.yml", "    pids_limit: 200\n", "    pids_limits: 200\n"),
        (dockerfile, "Dockerfile", "WORKDIR /etc/phiscan\n", "WORKDIRS /etc/phiscan\n"),
    ):
        done = subprocess.run([*command, str(ROOT / name)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        text = (ROOT / name).read_text()
        assert good in text
        (tmp_path / name).write_text(text.replace(good, bad, 1))
        assert subprocess.run([*command, str(tmp_path / name)], capture_output=True, check=False).returncode
