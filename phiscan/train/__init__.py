"""Make the models that are shipped: documents with known names, the tagger trained on them, its card and its gate.

Never needed to scan: the weights lie in ``phiscan/screen/data``. Needs the extra ``train``.
"""
