"""Further places of office files where text was lost: fields, formulas, names, notes, masters, other packages."""

# ruff: noqa: E501, S608, UP031 (markup is read best on one line)

import io
import json
import struct
import urllib.parse
import zipfile
from collections.abc import Callable, Mapping

import pytest

from phiscan.model import Document
from tests.extract.packages import zipped

Read = Callable[..., Document]
P = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def types(further: str = "") -> str:
    defaults = '<Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    return f'<Types xmlns="{PACKAGE}/content-types">{defaults}{further}</Types>'


def links(*items: tuple[str, str, str]) -> str:
    listed = "".join(
        f'<Relationship Id="r{number}" Type="{OFFICE}/{kind}" Target="{target}"{mode}/>'
        for number, (kind, target, mode) in enumerate(items, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{listed}</Relationships>'


def package(main: str, parts: Mapping[str, str | bytes], further: str = "") -> bytes:
    return zipped(
        {"[Content_Types].xml": types(further), "_rels/.rels": links(("officeDocument", main, "")), **parts}
    )


CASES: dict[str, bytes] = {}
WNS = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="%s" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" xmlns:o="urn:schemas-microsoft-com:office:office"'
    % OFFICE
)


def docx(
    body: str = "<w:p><w:r><w:t>Hello there</w:t></w:r></w:p>", parts: Mapping[str, str | bytes] | None = None
) -> bytes:
    main = f"<w:document {WNS}><w:body>{body}</w:body></w:document>"
    return package("word/document.xml", {"word/document.xml": main, **(parts or {})})


def p(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


CASES |= {
    "d_altchunk_html.docx": docx(
        '<w:altChunk r:id="r1"/>',
        parts={
            "word/_rels/document.xml.rels": links(("aFChunk", "chunk.htm", "")),
            "word/chunk.htm": "<html><body><p>%s</p></body></html>" % P,
        },
    ),
    "d_rel_mailto.docx": docx(
        '<w:p><w:hyperlink r:id="r1"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>',
        parts={
            "word/_rels/document.xml.rels": links(
                ("hyperlink", "mailto:a@b?subject=" + urllib.parse.quote(P), ' TargetMode="External"')
            )
        },
    ),
    "d_rel_file.docx": docx(
        "<w:p/>" + p("x"),
        parts={
            "word/_rels/document.xml.rels": links(
                (
                    "image",
                    "file:///C:/Lena%20Okafor/40718823/congestive%20heart%20failure.png",
                    ' TargetMode="External"',
                )
            )
        },
    ),
}
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="%s"' % OFFICE


def xlsx(
    data: str = "", rest: str = "", book: str = "", parts: Mapping[str, str | bytes] | None = None
) -> bytes:
    kind = '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    sheets = '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets>'
    own = {
        "xl/workbook.xml": f"<workbook {S}>{sheets}{book}</workbook>",
        "xl/_rels/workbook.xml.rels": links(("worksheet", "worksheets/sheet1.xml", "")),
        "xl/worksheets/sheet1.xml": f"<worksheet {S}><sheetData>{data}</sheetData>{rest}</worksheet>",
    }
    return package("xl/workbook.xml", {**own, **(parts or {})}, kind)


CASES |= {
    "x_phonetic.xlsx": xlsx(
        '<row r="1"><c r="A1" t="s"><v>0</v></c></row>',
        parts={
            "xl/sharedStrings.xml": '<sst %s><si><t>x</t><rPh sb="0" eb="1"><t>Lena Okafor 40718823 congestive heart failure</t></rPh></si></sst>'
            % S
        },
    ),
    "x_sheetname_hidden.xlsx": zipped(
        {
            **unzipped(xlsx()),
            "xl/workbook.xml": '<workbook %s><sheets><sheet name="Lena Okafor 40718823" state="veryHidden" sheetId="1" r:id="r1"/></sheets><customWorkbookViews><customWorkbookView name="congestive heart failure"/></customWorkbookViews></workbook>'
            % S,
        }
    ),
    "x_prefix_ns.xlsx": zipped(
        {
            **unzipped(xlsx()),
            "xl/worksheets/sheet1.xml": '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData><x:row r="1"><x:c r="A1" t="inlineStr"><x:is><x:t>%s</x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>'
            % P,
        }
    ),
}
A = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="%s"'
    % OFFICE
)


def pptx(tree: str = "", parts: Mapping[str, str | bytes] | None = None) -> bytes:
    shapes = tree or "<p:sp><p:txBody><a:p><a:r><a:t>hi</a:t></a:r></a:p></p:txBody></p:sp>"
    own = {
        "ppt/presentation.xml": f"<p:presentation {A}><p:sldIdLst><p:sldId id='256' r:id='r1'/></p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": links(("slide", "slides/slide1.xml", "")),
        "ppt/slides/slide1.xml": f"<p:sld {A}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>",
    }
    return package("ppt/presentation.xml", {**own, **(parts or {})})


CASES["p_section.pptx"] = zipped(
    {
        **unzipped(pptx()),
        "ppt/presentation.xml": "<p:presentation %s><p:custShowLst><p:custShow name='Lena Okafor 40718823' id='0'/></p:custShowLst><p:extLst><p:ext><p14:sectionLst xmlns:p14='http://schemas.microsoft.com/office/powerpoint/2010/main'><p14:section name='congestive heart failure'/></p14:sectionLst></p:ext></p:extLst></p:presentation>"
        % A,
    }
)
ON = (
    " ".join(
        'xmlns:%s="urn:oasis:names:tc:opendocument:xmlns:%s:1.0"' % (a, b)
        for a, b in (
            ("office", "office"),
            ("text", "text"),
            ("table", "table"),
            ("draw", "drawing"),
            ("form", "form"),
            ("style", "style"),
            ("presentation", "presentation"),
            ("script", "script"),
        )
    )
    + ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
)


def odf(kind: str, body: str, parts: Mapping[str, str | bytes] | None = None) -> bytes:
    content = f"<office:document-content {ON}><office:body>{body}</office:body></office:document-content>"
    return zipped(
        {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content, **(parts or {})}
    )


def ods(body: str, parts: Mapping[str, str | bytes] | None = None) -> bytes:
    return odf("spreadsheet", f"<office:spreadsheet>{body}</office:spreadsheet>", parts)


def odt(body: str, parts: Mapping[str, str | bytes] | None = None) -> bytes:
    return odf("text", f"<office:text>{body}</office:text>", parts)


T = '<table:table table:name="A"><table:table-row><table:table-cell office:value-type="string">%s</table:table-cell></table:table-row></table:table>'
CASES |= {
    "o_header.ods": ods(
        T % "<text:p>x</text:p>",
        parts={
            "styles.xml": "<office:document-styles %s><office:master-styles><style:master-page><style:header><text:p>%s</text:p></style:header></style:master-page></office:master-styles></office:document-styles>"
            % (ON, P)
        },
    ),
    "o_object_chart.ods": ods(
        T % "<text:p>x</text:p>",
        parts={
            "Object 1/content.xml": "<office:document-content %s><office:body><office:chart><table:table><table:table-row><table:table-cell><text:p>%s</text:p></table:table-cell></table:table-row></table:table></office:chart></office:body></office:document-content>"
            % (ON, P)
        },
    ),
    "o_basic.odt": odt(
        "<text:p>x</text:p>",
        parts={
            "Basic/Standard/Module1.xml": "<script:module xmlns:script='http://openoffice.org/2000/script' script:name='M'>REM %s</script:module>"
            % P
        },
    ),
    "o_odb.odb": zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.base",
            "content.xml": "<office:document-content %s><office:body><office:database/></office:body></office:document-content>"
            % ON,
            "database/script": "CREATE TABLE P(N VARCHAR(50))\nINSERT INTO P VALUES('%s')" % P,
        }
    ),
    "o_odg.odg": odf(
        "graphics",
        "<office:drawing><draw:page><draw:custom-shape><text:p>%s</text:p></draw:custom-shape></draw:page></office:drawing>"
        % P,
    ),
    "o_layer_title.odp": odf(
        "presentation",
        "<office:presentation><draw:page draw:name='Lena Okafor'><presentation:notes><draw:frame><draw:text-box><text:p>40718823 congestive heart failure</text:p></draw:text-box></draw:frame></presentation:notes></draw:page></office:presentation>",
    ),
    "o_sxw.sxw": zipped(
        {
            "mimetype": "application/vnd.sun.xml.writer",
            "content.xml": "<office:document-content xmlns:office='http://openoffice.org/2000/office' xmlns:text='http://openoffice.org/2000/text'><office:body><text:p>Lena Oka<text:span>for</text:span> 40718823 congestive heart failure</text:p></office:body></office:document-content>",
        }
    ),
}


def rtf(body: str) -> bytes:
    return ("{\\rtf1\\ansi\\ansicpg1252 " + body + "}").encode()


CASES |= {
    "e_ncx.epub": zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles><rootfile full-path='c.opf'/></rootfiles></container>",
            "c.opf": "<package xmlns='http://www.idpf.org/2007/opf'><metadata xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:description>Lena Okafor</dc:description></metadata><manifest/><spine/></package>",
            "toc.ncx": "<ncx xmlns='http://www.daisy.org/z3986/2005/ncx/'><docTitle><text>40718823 congestive heart failure</text></docTitle></ncx>",
        }
    ),
    "e_unlisted.epub": zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles><rootfile full-path='c.opf'/></rootfiles></container>",
            "c.opf": "<package xmlns='http://www.idpf.org/2007/opf'><metadata/><manifest/><spine/></package>",
            "extra/x.xhtml": "<html><body>%s</body></html>" % P,
        }
    ),
}

CASES |= {
    name: docx(body)
    for name, body in {
        "d_bookmark.docx": '<w:p><w:bookmarkStart w:id="0" w:name="Lena_Okafor_MRN_40718823_congestive_heart_failure"/><w:r><w:t>x</w:t></w:r><w:bookmarkEnd w:id="0"/></w:p>',
        "d_smarttag.docx": '<w:p><w:smartTag w:element="PersonName"><w:smartTagPr><w:attr w:name="ProductID" w:val="Lena Okafor"/></w:smartTagPr><w:r><w:t>Lena Oka</w:t></w:r><w:r><w:t>for</w:t></w:r></w:smartTag><w:r><w:t>, 40718823, congestive heart failure</w:t></w:r></w:p>',
        "d_customxml_el.docx": '<w:customXml w:element="x"><w:customXmlPr><w:attr w:name="n" w:val="%s"/></w:customXmlPr>%s</w:customXml>'
        % (P, p("x")),
        "d_sdt_alias.docx": '<w:sdt><w:sdtPr><w:alias w:val="Lena Okafor"/><w:tag w:val="MRN 40718823"/><w:placeholder><w:docPart w:val="x"/></w:placeholder><w:dataBinding w:xpath="/a/b" w:prefixMappings="xmlns:x=\'congestive heart failure\'"/></w:sdtPr><w:sdtContent>%s</w:sdtContent></w:sdt>'
        % p("congestive heart failure"),
        "d_instrtext.docx": '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> QUOTE "Lena Oka</w:instrText></w:r><w:r><w:instrText>for 40718823 congestive heart failure" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>',
        "d_fldsimple.docx": '<w:p><w:fldSimple w:instr=" HYPERLINK &quot;https://x/?p=Lena%20Okafor%2040718823%20congestive%20heart%20failure&quot; "><w:r><w:t>x</w:t></w:r></w:fldSimple></w:p>',
        "d_math.docx": "<w:p><m:oMath><m:r><m:t>Lena Oka</m:t></m:r><m:r><m:t>for 40718823 congestive heart failure</m:t></m:r></m:oMath></w:p>",
        "d_ruby.docx": "<w:p><w:r><w:ruby><w:rt><w:r><w:t>Lena Okafor 40718823</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>congestive heart failure</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>",
        "d_vml_textpath.docx": '<w:p><w:r><w:pict><v:shape alt="x"><v:textpath string="%s"/></v:shape></w:pict></w:r></w:p>'
        % P,
        "d_vml_textbox.docx": "<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent>%s</w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
        % p(P),
        "d_rsid_vanish.docx": "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>%s</w:t></w:r></w:p>" % P,
        "d_symchars.docx": "<w:p><w:r><w:t>Lena Oka</w:t></w:r><w:r><w:noBreakHyphen/></w:r><w:r><w:t>for</w:t></w:r></w:p><w:p><w:r><w:t>Lena</w:t><w:tab/><w:t>Okafor 40718823</w:t><w:br/><w:t>congestive heart failure</w:t></w:r></w:p>",
        "d_moved.docx": "<w:p><w:moveFrom><w:r><w:t>%s</w:t></w:r></w:moveFrom></w:p>" % P,
        "d_deltext.docx": "<w:p><w:del><w:r><w:delText>Lena Oka</w:delText></w:r><w:r><w:delText>for 40718823 congestive heart failure</w:delText></w:r></w:del></w:p>",
        "d_delinstr.docx": "<w:p><w:del><w:r><w:delInstrText>%s</w:delInstrText></w:r></w:del></w:p>" % P,
        "d_formprotect_ff.docx": '<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="x"/><w:statusText w:type="text" w:val="Lena Okafor 40718823"/><w:helpText w:val="congestive heart failure"/></w:ffData></w:fldChar></w:r></w:p>',
    }.items()
}

CASES |= {
    name: docx(p("x"), body)
    for name, body in {
        "d_template_rel.docx": {
            "word/settings.xml": "<w:settings %s><w:mailMerge><w:query w:val=\"SELECT * FROM p WHERE name = 'Lena Okafor' AND mrn = 40718823 AND dx = 'congestive heart failure'\"/></w:mailMerge></w:settings>"
            % WNS
        },
        "d_docvars.docx": {
            "word/settings.xml": '<w:settings %s><w:docVars><w:docVar w:name="pt" w:val="%s"/></w:docVars></w:settings>'
            % (WNS, P)
        },
        "d_activex.docx": {
            "word/activeX/activeX1.xml": '<ax:ocx xmlns:ax="http://schemas.microsoft.com/office/2006/activeX" ax:classid="{8BD21D10-EC42-11CE-9E0D-00AA006002F3}"><ax:ocxPr ax:name="Value" ax:value="%s"/></ax:ocx>'
            % P
        },
        "d_glossary.docx": {
            "word/glossary/document.xml": "<w:glossaryDocument %s><w:docParts><w:docPart><w:docPartPr><w:name w:val='x'/></w:docPartPr><w:docPartBody>%s</w:docPartBody></w:docPart></w:docParts></w:glossaryDocument>"
            % (WNS, p(P))
        },
        "d_people.docx": {
            "word/people.xml": '<w15:people xmlns:w15="http://schemas.microsoft.com/office/word/2012/wordml"><w15:person w15:author="Lena Okafor 40718823 congestive heart failure"/></w15:people>'
        },
        "d_app_titles.docx": {
            "docProps/app.xml": '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties" xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"><TitlesOfParts><vt:vector size="1" baseType="lpstr"><vt:lpstr>%s</vt:lpstr></vt:vector></TitlesOfParts></Properties>'
            % P
        },
        "d_app_hlinks.docx": {
            "docProps/app.xml": '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties" xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"><HLinks><vt:vector size="1" baseType="variant"><vt:variant><vt:lpwstr>https://x/?q=%s</vt:lpwstr></vt:variant></vt:vector></HLinks></Properties>'
            % urllib.parse.quote(P)
        },
        "d_chart.docx": {
            "word/charts/chart1.xml": '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart><c:ser><c:cat><c:strRef><c:f>Sheet1!A1</c:f><c:strCache><c:pt idx="0"><c:v>Lena Okafor 40718823</c:v></c:pt><c:pt idx="1"><c:v>congestive heart failure</c:v></c:pt></c:strCache></c:strRef></c:cat></c:ser></c:chart></c:chartSpace>'
        },
        "d_webext.docx": {
            "word/webextensions/webextension1.xml": '<we:webextension xmlns:we="http://schemas.microsoft.com/office/webextensions/webextension/2010/11"><we:properties><we:property name="x" value="%s"/></we:properties></we:webextension>'
            % json.dumps({"n": P}).replace('"', "&quot;")
        },
        "d_comment_bare.docx": {
            "word/comments.xml": '<w:comments %s><w:comment w:id="1" w:author="Lena Okafor"><w:p><w:r><w:t>4071</w:t></w:r><w:r><w:t>8823 congestive heart failure</w:t></w:r></w:p></w:comment></w:comments>'
            % WNS
        },
        "d_thumb_embedded_txt.docx": {"word/embeddings/oleObject1.bin": P},
        "d_rtf_in_docx.docx": {
            "word/afchunk1.rtf": r"{\rtf1\ansi Lena Ok\b af\b0 or 407\i 18823\i0  congestive heart f\'61ilure}"
        },
    }.items()
}

CASES |= {
    name: xlsx(body)
    for name, body in {
        "x_formula_literal.xlsx": '<row r="1"><c r="A1" t="str"><f>IF(B1=1,"Lena Okafor 40718823 congestive heart failure","")</f><v></v></c></row>',
        "x_formula_concat.xlsx": '<row r="1"><c r="A1"><f>"Lena Okafor"&amp;" 40718823 "&amp;"congestive heart failure"</f></c></row>',
        "x_formula_hyperlink.xlsx": '<row r="1"><c r="A1" t="str"><f>HYPERLINK("https://x/?p=Lena%20Okafor%2040718823%20congestive%20heart%20failure","view")</f><v>view</v></c></row>',
        "x_inline_runs.xlsx": '<row r="1"><c r="A1" t="inlineStr"><is><r><t>Lena Oka</t></r><r><t>for 407</t></r><r><t>18823 congestive heart failure</t></r></is></c></row>',
        "x_array_formula.xlsx": '<row r="1"><c r="A1"><f t="array" ref="A1">LOOKUP(B1,{1,2},{"Lena Okafor 40718823","congestive heart failure"})</f><v>0</v></c></row>',
        "x_datetime_iso.xlsx": '<row r="1"><c r="A1" t="inlineStr"><is><t>Lena Okafor</t></is></c><c r="B1" t="d"><v>1951-03-14</v></c><c r="C1"><v>40718823</v></c><c r="D1" t="str"><v>congestive heart failure</v></c></row>',
        "x_dup_cells.xlsx": '<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c><c r="A1" t="inlineStr"><is><t>%s</t></is></c></row>'
        % P,
        "x_escaped.xlsx": '<row r="1"><c r="A1" t="inlineStr"><is><t>Lena_x0020_Okafor_x002C_ 407_x0031_8823 congestive heart failure</t></is></c></row>',
    }.items()
}

CASES |= {
    name: xlsx(rest=body)
    for name, body in {
        "x_condformat.xlsx": '<conditionalFormatting sqref="A1"><cfRule type="containsText" text="Lena Okafor 40718823" priority="1"><formula>NOT(ISERROR(SEARCH("congestive heart failure",A1)))</formula></cfRule></conditionalFormatting>',
        "x_scenario.xlsx": '<scenarios><scenario name="Lena Okafor" user="x" comment="MRN 40718823"><inputCells r="A1" val="congestive heart failure"/></scenario></scenarios>',
        "x_header.xlsx": "<headerFooter><oddHeader>&amp;LLena Okafor&amp;C40718823&amp;Rcongestive heart failure</oddHeader></headerFooter>",
        "x_tooltip.xlsx": '<hyperlinks><hyperlink ref="A1" location="x" display="Lena Okafor" tooltip="40718823 congestive heart failure"/></hyperlinks>',
        "x_protected.xlsx": '<protectedRanges><protectedRange name="Lena_Okafor_40718823 congestive heart failure" sqref="A1"/></protectedRanges>',
        "x_ext_dv.xlsx": '<extLst><ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"><x14:dataValidations><x14:dataValidation promptTitle="Lena Okafor" prompt="40718823 congestive heart failure"/></x14:dataValidations></ext></extLst>',
    }.items()
}

CASES |= {
    name: xlsx(book=body)
    for name, body in {
        "x_definedname.xlsx": '<definedNames><definedName name="pt" comment="Lena Okafor">"MRN 40718823 congestive heart failure"</definedName></definedNames>',
    }.items()
}

CASES |= {
    name: xlsx(parts=body)
    for name, body in {
        "x_connections.xlsx": {
            "xl/connections.xml": '<connections %s><connection id="1" name="c"><dbPr connection="x" command="SELECT * FROM v WHERE n=\'Lena Okafor\' AND m=40718823 AND d=\'congestive heart failure\'"/></connection></connections>'
            % S
        },
        "x_revision.xlsx": {
            "xl/revisions/revisionLog1.xml": '<revisions %s><rcc rId="1" sId="1"><oc r="A1" t="inlineStr"><is><t>Lena Oka</t></is></oc><nc r="A1" t="inlineStr"><is><t>%s</t></is></nc></rcc></revisions>'
            % (S, P)
        },
        "x_richdata.xlsx": {
            "xl/richData/rdrichvalue.xml": '<rvData xmlns="http://schemas.microsoft.com/office/spreadsheetml/2017/richdata" count="1"><rv s="0"><v>Lena Okafor</v><v>40718823</v><v>congestive heart failure</v></rv></rvData>'
        },
        "x_table_totals.xlsx": {
            "xl/tables/table1.xml": '<table %s id="1" name="T" displayName="T" ref="A1:B2" comment="Lena Okafor"><tableColumns><tableColumn id="1" name="MRN 40718823" totalsRowLabel="congestive heart failure"/></tableColumns></table>'
            % S
        },
        "x_ctrlprop.xlsx": {
            "xl/ctrlProps/ctrlProp1.xml": '<formControlPr xmlns="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" objectType="List"><itemLst><item val="Lena Okafor"/><item val="40718823"/><item val="congestive heart failure"/></itemLst></formControlPr>'
        },
        "x_vml_comment.xlsx": {
            "xl/drawings/vmlDrawing1.vml": '<xml xmlns:v="urn:schemas-microsoft-com:vml"><v:shape><v:textbox><div>Lena Okafor 40718823 congestive heart failure</div></v:textbox></v:shape></xml>'
        },
        "x_drawing_txbody.xlsx": {
            "xl/drawings/drawing1.xml": '<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><xdr:sp><xdr:txBody><a:p><a:r><a:t>Lena Oka</a:t></a:r><a:r><a:t>for 40718823 congestive heart failure</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:wsDr>'
        },
        "x_threaded.xlsx": {
            "xl/threadedComments/threadedComment1.xml": '<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"><threadedComment ref="A1" id="{1}"><text>%s</text></threadedComment></ThreadedComments>'
            % P
        },
        "x_comment_bare_t.xlsx": {
            "xl/comments1.xml": '<comments %s><authors><author>Lena Okafor</author></authors><commentList><comment ref="A1" authorId="0"><text><t>40718823 congestive heart failure</t></text></comment></commentList></comments>'
            % S,
            "xl/worksheets/_rels/sheet1.xml.rels": links(("comments", "../comments1.xml", "")),
        },
    }.items()
}

CASES |= {
    name: pptx(body)
    for name, body in {
        "p_group.pptx": "<p:grpSp><p:grpSp><p:sp><p:txBody><a:p><a:r><a:t>Lena Oka</a:t></a:r><a:r><a:t>for 40718823 congestive heart failure</a:t></a:r></a:p></p:txBody></p:sp></p:grpSp></p:grpSp>",
        "p_table.pptx": "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>%s</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
        % P,
        "p_altname.pptx": '<p:pic><p:nvPicPr><p:cNvPr id="1" name="Lena Okafor 40718823 congestive heart failure.png"/></p:nvPicPr></p:pic>',
    }.items()
}

CASES |= {
    name: pptx(parts=body)
    for name, body in {
        "p_smartart.pptx": {
            "ppt/diagrams/data1.xml": '<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst><dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>%s</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>'
            % P
        },
        "p_modern_comment.pptx": {
            "ppt/comments/modernComment_100_0.xml": '<p188:cmLst xmlns:p188="http://schemas.microsoft.com/office/powerpoint/2018/8/main" %s><p188:cm><p188:txBody><a:p><a:r><a:t>%s</a:t></a:r></a:p></p188:txBody></p188:cm></p188:cmLst>'
            % (A, P)
        },
        "p_vtt.pptx": {"ppt/media/captions1.vtt": "WEBVTT\n\n00:00.000 --> 00:01.000\n" + P},
        "p_handout.pptx": {
            "ppt/handoutMasters/handoutMaster1.xml": "<p:handoutMaster %s><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>%s</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:handoutMaster>"
            % (A, P)
        },
        "p_hlink.pptx": {
            "ppt/slides/_rels/slide1.xml.rels": links(
                ("hyperlink", "https://x/?q=" + urllib.parse.quote(P), ' TargetMode="External"')
            )
        },
    }.items()
}

CASES |= {
    name: ods(body)
    for name, body in {
        "o_annotation.ods": T
        % (
            "<office:annotation><dc:creator>Lena Okafor</dc:creator><text:p>40718823</text:p><text:p>congestive heart failure</text:p></office:annotation><text:p>x</text:p>"
        ),
        "o_validation.ods": "<table:content-validations><table:content-validation table:name='v' table:condition=\"of:cell-content-is-in-list(&quot;Lena Okafor&quot;;&quot;40718823&quot;)\"><table:help-message table:title='congestive heart failure'><text:p>x</text:p></table:help-message></table:content-validation></table:content-validations>"
        + T % "<text:p>x</text:p>",
        "o_tracked.ods": "<table:tracked-changes><table:cell-content-change><table:previous><table:change-track-table-cell office:value-type='string'><text:p>%s</text:p></table:change-track-table-cell></table:previous></table:cell-content-change></table:tracked-changes>"
        % P
        + T % "<text:p>x</text:p>",
        "o_named.ods": T % "<text:p>x</text:p>"
        + "<table:named-expressions><table:named-expression table:name='n' table:expression='&quot;Lena Okafor 40718823 congestive heart failure&quot;'/></table:named-expressions>",
        "o_formula.ods": '<table:table table:name="A"><table:table-row><table:table-cell table:formula="of:=IF([.B1]=1;&quot;Lena Okafor 40718823 congestive heart failure&quot;;&quot;&quot;)" office:value-type="string" office:string-value=""/></table:table-row></table:table>',
        "o_stringvalue.ods": '<table:table table:name="A"><table:table-row><table:table-cell office:value-type="string" office:string-value="%s"/></table:table-row></table:table>'
        % P,
        "o_filter.ods": T % "<text:p>x</text:p>"
        + "<table:database-ranges><table:database-range table:name='r'><table:filter><table:filter-condition table:value='Lena Okafor'/><table:filter-condition table:value='40718823'/><table:filter-condition table:value='congestive heart failure'/></table:filter></table:database-range></table:database-ranges>",
        "o_scenario.ods": '<table:table table:name="A"><table:scenario table:comment="%s"/><table:table-row><table:table-cell/></table:table-row></table:table>'
        % P,
        "o_shapes.ods": '<table:table table:name="A"><table:shapes><draw:frame><draw:text-box><text:p>%s</text:p></draw:text-box></draw:frame></table:shapes><table:table-row><table:table-cell/></table:table-row></table:table>'
        % P,
    }.items()
}

CASES |= {
    name: odt(body)
    for name, body in {
        "o_userfield.odt": "<text:user-field-decls><text:user-field-decl office:value-type='string' office:string-value='%s' text:name='x'/></text:user-field-decls><text:p>x</text:p>"
        % P,
        "o_conditional.odt": "<text:p><text:conditional-text text:condition='x' text:string-value-if-true='Lena Okafor 40718823' text:string-value-if-false='congestive heart failure'>x</text:conditional-text></text:p>",
        "o_hiddentext.odt": "<text:p><text:hidden-text text:string-value='%s' text:is-hidden='true'/>x</text:p>"
        % P,
        "o_dropdown.odt": "<text:p><text:drop-down text:name='x'><text:label text:value='Lena Okafor'/><text:label text:value='40718823'/><text:label text:value='congestive heart failure'/></text:drop-down></text:p>",
        "o_tracked.odt": "<text:tracked-changes><text:changed-region><text:deletion><text:p>%s</text:p></text:deletion></text:changed-region></text:tracked-changes><text:p>x</text:p>"
        % P,
        "o_bookmark.odt": "<text:p><text:bookmark text:name='Lena Okafor 40718823 congestive heart failure'/>x</text:p>",
        "o_form.odt": "<office:forms><form:form><form:text form:name='n' form:value='Lena Okafor' form:current-value='40718823'/><form:listbox form:name='l'><form:option form:label='congestive heart failure' form:value='1'/></form:listbox></form:form></office:forms><text:p>x</text:p>",
        "o_spans.odt": "<text:p>Lena<text:s/>Oka<text:span>for</text:span> 407<text:span>18<text:span>823</text:span></text:span> congestive<text:tab/>heart<text:line-break/>failure</text:p>",
        "o_href.odt": '<text:p><text:a xlink:href="https://x/?q=%s">x</text:a></text:p>'
        % urllib.parse.quote(P),
    }.items()
}

CASES |= {
    name: rtf(body)
    for name, body in {
        "r_bkmk.rtf": "{\\*\\bkmkstart Lena_Okafor_40718823_congestive_heart_failure}x{\\*\\bkmkend a}",
        "r_annotation.rtf": "x{\\*\\atnauthor Lena Okafor}{\\*\\annotation 40718823 congestive heart failure}",
        "r_formfield.rtf": "{\\field{\\*\\fldinst FORMTEXT {\\*\\formfield{\\fftype0{\\*\\ffname x}{\\*\\ffdeftext Lena Okafor 40718823}{\\*\\ffhelptext congestive heart failure}}}}{\\fldrslt x}}",
        "r_ffl.rtf": "{\\field{\\*\\fldinst FORMDROPDOWN {\\*\\formfield{\\fftype2{\\*\\ffl Lena Okafor}{\\*\\ffl 40718823}{\\*\\ffl congestive heart failure}}}}{\\fldrslt x}}",
        "r_docvar.rtf": "{\\*\\docvar {pt}{%s}}x" % P,
        "r_userprops.rtf": "{\\*\\userprops{\\propname pt}\\proptype30{\\staticval %s}}x" % P,
        "r_htmltag.rtf": "\\fromhtml1{\\*\\htmltag64 <p>}\\htmlrtf {\\htmlrtf0 Lena Oka{\\*\\htmltag84 <b>}for{\\*\\htmltag92 </b>} 407{\\*\\htmltag84 &nbsp;}\\htmlrtf\\'a0\\htmlrtf0 congestive heart failure}{\\*\\htmltag241 <!-- 40718823 -->}",
        "r_htmltag_only.rtf": "\\fromhtml1{\\*\\htmltag1 <p>%s</p>}" % P,
        "r_xe.rtf": "x{\\xe {Lena Okafor 40718823}}{\\tc {congestive heart failure}}",
        "r_fldinst.rtf": '{\\field{\\*\\fldinst HYPERLINK "https://x/?q=%s"}{\\fldrslt x}}'
        % urllib.parse.quote(P),
        "r_u.rtf": "".join("\\u%d?" % ord(c) for c in P),
        "r_hex.rtf": "".join("\\'%02x" % ord(c) for c in P),
        "r_shptxt.rtf": "{\\shp{\\*\\shpinst{\\sp{\\sn gtextUNICODE}{\\sv Lena Okafor 40718823}}{\\shptxt congestive heart failure}}}",
        "r_deleted.rtf": "{\\deleted %s}x" % P,
        "r_v.rtf": "{\\v %s}x" % P,
        "r_bin.rtf": "{\\*\\foo\\bin%d %s}x" % (len(P), P),
        "r_objdata.rtf": "{\\object\\objemb{\\*\\objclass Package}{\\*\\objdata 0105}{\\result x}}{\\*\\xmlnstbl {\\xmlns1 x}}{\\*\\mailmerge{\\mmquery SELECT Lena Okafor 40718823 congestive heart failure}}",
        "r_unknown_dest.rtf": "{\\*\\vendorprivate Lena Okafor 40718823 congestive heart failure}x",
        "r_revtbl.rtf": "{\\*\\revtbl{Unknown;}{Lena Okafor;}}{\\info{\\doccomm 40718823}{\\hlinkbase congestive heart failure}}x",
        "r_upr.rtf": "{\\upr{\\*\\x ?}{\\*\\ud{\\*\\x Lena Okafor 40718823 congestive heart failure}}}x",
    }.items()
}

PARTLY_READ = {
    "control.docx": docx(
        p("x"),
        parts={"word/activeX/activeX1.bin": b"\x10\x1d" + bytes(20) + P.encode("utf-16-le") + bytes(9)},
    ),
    "data.docx": docx(p("x"), parts={"word/foo.bin": b"\0\1\2\3" * 9 + P.encode() + b"\0\1\2"}),
    "data.odb": zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.base",
            "content.xml": "<x/>",
            "database/data": b"\0\0\0\1" + struct.pack(">I", len(P)) + P.encode() + b"\0\0\2",
        }
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_text_in_a_further_place_is_read(read: Read, name: str) -> None:
    shown = " ".join(read(CASES[name], name).text.split())
    for word in WORDS:
        assert word in shown


@pytest.mark.parametrize("name", PARTLY_READ)
def test_runs_of_text_in_unknown_data_are_read_and_the_rest_is_listed(read: Read, name: str) -> None:
    document = read(PARTLY_READ[name], name)
    assert P in document.text
    assert "only the runs of text in it are read" in document.unread[0].detail


def test_automatic_names_are_no_text(read: Read) -> None:
    marks = "".join(
        f'<w:bookmarkStart w:id="{n}" w:name="{name}"/>'
        for n, name in enumerate(("_Toc123456", "_Ref99887766", "OLE_LINK1", "_GoBack"))
    )
    text = read(docx(f"<w:p>{marks}<w:r><w:t>Hello</w:t></w:r></w:p>"), "a.docx").text
    assert text.split() == ["Hello"]
