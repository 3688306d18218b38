"""The report as HTML, PDF, CSV, JSON and SVG."""
