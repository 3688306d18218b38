"""The review pages and the REST API."""
