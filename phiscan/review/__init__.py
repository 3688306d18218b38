"""The review store, its desk, accounts, audit log, integrity checks and retention."""
