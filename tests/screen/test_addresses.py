"""Internet protocol addresses are told from versions, sections and identifiers of objects."""

import pytest

from phiscan.model import EntityType
from tests.screen.whole import screened

ADDRESSES = [
    "Client/10.4.12.7 connected",
    "Peer/10.20.30.40: closed",
    "Executor/10.4.12.7 lost",
    "Server/192.168.4.20 up",
    "ip.addr == 10.4.12.7 && tcp",
    "ip.src==10.4.12.7",
    "host == '192.168.10.24'",
    'remote_addr == "10.4.12.7"',
    "dst==203.0.113.9 and port 80",
    "firewall rule 10.4.12.7 deny",
    "matched rule 192.168.10.24 allow",
    "NAT rule 10.20.30.40",
    "règle 192.168.10.24 refusée",
    "10.4.12.7\tLena\tOkafor",
    "ip\tname\n10.20.30.40\tLena",
    "a\t10.4.12.7\tWard",
    "from 192.168.10.24",
    "ip=10.4.12.7",
    "[203.0.113.9]",
    "ssh 10.4.12.7",
]
OTHERS = [
    "Mozilla/5.0.1.2",
    "Firefox/115.0.1.2",
    "Chrome/120.0.99.130",
    "requests==2.31.0.101",
    "numpy>=1.26.4.100",
    "pandas~=2.1.0.123",
    "version == 10.4.12.7",
    "python == 3.11.20.7",
    "rule 4.2.1.3",
    "Rule 164.5.1.4",
    "règle 10.11.12.13",
    "6.1.2.1. Objectifs",
    "6.1.2.1\tObjectifs",
    "6.1.2.1\tObjectifs\t12",
    "§ 164.5.1.4",
    "Section 164.30.1.2",
    "OID 2.16.84.113",
    "release 192.1.3.4",
]


@pytest.mark.parametrize("text", [*ADDRESSES, *OTHERS])
def test_an_address_in_a_log_a_filter_or_a_table_is_found_and_a_version_or_a_section_is_none(
    text: str,
) -> None:
    kinds = {one.entity_type for one in screened(text).findings}
    assert (EntityType.IP in kinds) is (text in ADDRESSES)


@pytest.mark.parametrize(
    ("text", "is_age"),
    [
        ("YOB: 34", True),
        ("yob\n34\n", True),
        ("année de naissance : 31", True),
        ("Year of birth: 1934", True),
        ("YOB: 12", False),
        ("YOB: 62", False),
        ("YOB: 34 weeks", False),
        ("yob\n05\n", False),
        ("année de naissance : 88", False),
    ],
)
def test_a_year_of_birth_that_can_only_be_of_the_last_century_is_an_age(text: str, is_age: bool) -> None:
    kinds = {one.entity_type for one in screened(text).findings}
    assert (EntityType.AGE_OVER_89 in kinds) is is_age
