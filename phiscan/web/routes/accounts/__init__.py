"""Routes of accounts: sign-in, second factor, own account, users, language."""
