"""Numbers, codes, dates and accounts that rules alone do not find."""
