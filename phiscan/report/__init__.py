"""The audit pack of a scan: one HTML page that stands alone, JSON, CSV tables and SVG plots."""
