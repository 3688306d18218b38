"""The audit pack of a scan: one self-contained HTML page, PDF, JSON, CSV tables and SVG plots."""
