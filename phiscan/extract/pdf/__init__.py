"""PDF: pages, form fields, annotations, pictures and the second reader."""
