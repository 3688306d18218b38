"""Mailboxes on IMAP servers."""
