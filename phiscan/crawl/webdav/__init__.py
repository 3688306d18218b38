"""WebDAV servers."""
