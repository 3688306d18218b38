"""Words of the names of built-in styles, fonts, placeholders and shapes of office programs."""

_WORDS = """
absatz accent address animation annotation appendix arial aucune bad balloon banded bearbeiten
bibliography black block body bottom box bullet calculation calibri cambria caption car cell char char1
characters chart check citation classic click closing colorful cols column columns comma comment
connector cont contemporary contents continue contributors corps courier currency dark date default
definition design document drawing défaut edit effects elegant embedded emphasis end endnote entry
envelope event example excel explanatory fifth first followed font footer footnote fourth frame freeform
fußzeile georgia good gothic grid grille group header heading helvetica horizontal html hyperlink
illustration indent index inline input intense internet klicken kopfzeile last left level light line link
linked list liste macro main marker master medium message microsoft mincho monotype narrow neutral new no
normal note notes number numbering object office ole outline output oval page par paragraph percent
picture placeholder plain police policy preformatted professional quotations quote recipient rectangle
reference return right roman root row rows rule salutation sans second sender serif servers shading shape
sheet signature simple slide sorts spacing standard standardschriftart start straight strikethrough
strong style styles subject subtitle subtle symbol symbols table tahoma teletype text theme third times
title titre toa toc top total unicode unknown user verdana vertical visited warning web wingdings word
worksheet zchn zeichen überschrift
"""
STYLING_WORDS = frozenset(_WORDS.split())
