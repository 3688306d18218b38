"""Words of the names of built-in styles, fonts, placeholders and shapes of office programs."""

_WORDS = """
absatz abstract accent address affiliation and animation annotation appendix arial arrow aucune author
authorities background bad balloon banded bearbeiten bibliography bibliography1 black block blue body
bold book bottom bottom-of-form box boxes built-in bullet bulletlist calculation calibri cambria caption
car cell char char1 characters chart check citation classic click closing colorful cols column columns
comma comment connector cont contemporary contents contents1 continue contributors corps courier cover
currency current dark dark1 dashed date default defaultplaceholder definition design document drawing
défaut e-mail edit effects elegant email embedded emphasis emphasized end endnote entry envelope
equations event example excel explanatory fifth figurecaption figures fill filled first followed font
footer footer1 footnote for foreground form fourth frame freeform fußzeile gallery general georgia good
gothic gray green grey grid grid1 grille group header header1 heading heading1 helvetica horizontal html
hyperlink hyperlink1 illustration in indent index inline input intense internet invisible italic keywords
klicken kopfzeile last left level light line lines link linked list list1 list2 liste macro main map
marker master medium mention message microsoft mincho monotype named narrow neutral new no normal normal1
note notes num number numbering obj object of office ole on orange outline outline1 outlined output oval
page pages pagestyle papertitle par paragraph parts percent picture placeholder plain police policy
preformatted professional purple quick quotations quote ranges recipient rectangle red reference
references report return revision right roman root row rows rule salutation sans second sender serif
servers shading shape sheet signature simple slide smart sorts spacing standard standardschriftart start
straight strikethrough strong style styles subject subtitle subtle symbol symbols table tablecolhead
tablehead tahoma teletype term text the theme third tight times title title1 titre to toa toc top
top-of-form total unicode unknown unresolved user verdana vertical visited warning watermarks web web1
white wide wingdings with word worksheet yellow zchn zeichen überschrift
"""
STYLING_WORDS = frozenset(_WORDS.split())
