"""The checks that rules name: each may veto a matched value or confirm it.

A check returns CONFIRM when passing it is evidence, PLAUSIBLE when it only fails to object, VETO when no such
value was ever issued.
"""

from __future__ import annotations

from collections.abc import Mapping

from phiscan.screen.validators.check_digits import (
    bc_phn,
    dea,
    iban,
    imei,
    luhn,
    mbi,
    mrz,
    npi,
    ramq,
    sin,
    soft_luhn,
    soft_sin,
    ssn,
    udi,
    vin,
)
from phiscan.screen.validators.codes import (
    driver_licence,
    grouped_code,
    has_digit,
    has_letter,
    no_date,
    no_fraction,
    no_public_number,
    record_code,
    record_number,
)
from phiscan.screen.validators.contacts import (
    address,
    employer,
    ip_address,
    named_organization,
    organization,
    phone,
    possible_phone,
    postal_code,
    street,
    web_address,
)
from phiscan.screen.validators.dates import (
    birth_year_over_89,
    date_range,
    numeric_date,
    over_89,
    over_89_in_units,
    separated_date,
    written_date,
    year_and_month,
)
from phiscan.screen.validators.verdicts import Check

CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        ssn,
        sin,
        soft_sin,
        luhn,
        soft_luhn,
        iban,
        bc_phn,
        ramq,
        mbi,
        npi,
        dea,
        vin,
        phone,
        possible_phone,
        ip_address,
        web_address,
        numeric_date,
        date_range,
        birth_year_over_89,
        separated_date,
        written_date,
        over_89,
        over_89_in_units,
        mrz,
        udi,
        imei,
        has_digit,
        no_date,
        record_number,
        record_code,
        grouped_code,
        no_public_number,
        no_fraction,
        year_and_month,
        driver_licence,
        has_letter,
        address,
        street,
        organization,
        employer,
        named_organization,
        postal_code,
    )
}
