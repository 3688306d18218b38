"""Google Drive: drives of users and shared drives, read through a service account."""
