"""Microsoft 365 through Microsoft Graph: files of SharePoint, OneDrive and Teams, and mailboxes."""
