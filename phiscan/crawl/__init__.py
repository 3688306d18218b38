"""The crawl room."""
