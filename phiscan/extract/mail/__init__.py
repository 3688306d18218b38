"""Mail messages, mailboxes, Outlook files and contact cards."""
