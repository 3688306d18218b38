"""Optical character recognition in a process of its own: libtesseract, its limits, and the client."""
