"""Places of office files where text was lost: fields, formulas, names, notes, masters, other packages."""

# ruff: noqa: E501, S608, UP031 (markup is read best on one line)

import base64
import struct
import urllib.parse
from collections.abc import Callable
from functools import partial

import pytest

from phiscan.model import Document
from tests.extract.packages import (
    CELL,
    EXTERNAL,
    ON,
    SHEET,
    WNS,
    A,
    S,
    docx,
    epub,
    links,
    metafile,
    odf,
    ods,
    odt,
    p,
    pptx,
    xlsx,
    zipped,
)

Read = Callable[..., Document]
P = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."
QUOTED = urllib.parse.quote(P)
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
T = CELL.replace("<text:p>x</text:p>", "%s")


def rtf(body: str) -> bytes:
    return ("{\\rtf1\\ansi\\ansicpg1252 " + body + "}").encode()


def queries(source: str) -> str:
    """Return the part of a workbook that holds the source of its queries."""
    inner = zipped({"Config/Package.xml": "<Package/>", "Formulas/Section1.m": source})
    rest = struct.pack("<I", 2) + b"<>" + struct.pack("<I", 29) + bytes(4) + b"<LocalPackageMetadataFile/>"
    data = bytes(4) + struct.pack("<I", len(inner)) + inner + rest
    return f'<DataMashup xmlns="http://schemas.microsoft.com/DataMashup">{base64.b64encode(data).decode()}</DataMashup>'


MAKERS: dict[str, Callable[..., bytes]] = {
    "docx": docx,
    "xlsx": xlsx,
    "pptx": pptx,
    "ods": ods,
    "odt": odt,
    "rtf": rtf,
    "epub": epub,
    "odb": partial(odf, "oasis.opendocument.base"),
    "odg": partial(odf, "oasis.opendocument.graphics"),
    "odp": partial(odf, "oasis.opendocument.presentation"),
    "sxw": partial(odf, "sun.xml.writer"),
}


def made(place: str, text: str | bytes) -> bytes:
    """Return a file with a text at a place: its name alone, or with a part or an argument of its maker."""
    name, _, part = place.partition(" ")
    make = MAKERS[name.rpartition(".")[2]]
    if not part:
        return make(text)
    return make(**{part: text}) if part in ("rest", "book") else make(parts={part: text})


PLACES: dict[str, str | bytes] = {
    "d_bookmark.docx": '<w:p><w:bookmarkStart w:id="0" w:name="Lena_Okafor_MRN_40718823_congestive_heart_failure"/><w:r><w:t>x</w:t></w:r><w:bookmarkEnd w:id="0"/></w:p>',
    "d_smarttag.docx": '<w:p><w:smartTag w:element="PersonName"><w:smartTagPr><w:attr w:name="ProductID" w:val="Lena Okafor"/></w:smartTagPr><w:r><w:t>Lena Oka</w:t></w:r><w:r><w:t>for</w:t></w:r></w:smartTag><w:r><w:t>, 40718823, congestive heart failure</w:t></w:r></w:p>',
    "d_customxml_el.docx": f'<w:customXml w:element="x"><w:customXmlPr><w:attr w:name="n" w:val="{P}"/></w:customXmlPr>{p("x")}</w:customXml>',
    "d_sdt_alias.docx": f'<w:sdt><w:sdtPr><w:alias w:val="Lena Okafor"/><w:tag w:val="MRN 40718823"/><w:placeholder><w:docPart w:val="x"/></w:placeholder><w:dataBinding w:xpath="/a/b" w:prefixMappings="xmlns:x=\'congestive heart failure\'"/></w:sdtPr><w:sdtContent>{p("congestive heart failure")}</w:sdtContent></w:sdt>',
    "d_instrtext.docx": '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> QUOTE "Lena Oka</w:instrText></w:r><w:r><w:instrText>for 40718823 congestive heart failure" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>',
    "d_fldsimple.docx": '<w:p><w:fldSimple w:instr=" HYPERLINK &quot;https://x/?p=Lena%20Okafor%2040718823%20congestive%20heart%20failure&quot; "><w:r><w:t>x</w:t></w:r></w:fldSimple></w:p>',
    "d_math.docx": "<w:p><m:oMath><m:r><m:t>Lena Oka</m:t></m:r><m:r><m:t>for 40718823 congestive heart failure</m:t></m:r></m:oMath></w:p>",
    "d_ruby.docx": "<w:p><w:r><w:ruby><w:rt><w:r><w:t>Lena Okafor 40718823</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>congestive heart failure</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>",
    "d_vml_textpath.docx": f'<w:p><w:r><w:pict><v:shape alt="x"><v:textpath string="{P}"/></v:shape></w:pict></w:r></w:p>',
    "d_vml_textbox.docx": f"<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent>{p(P)}</w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>",
    "d_rsid_vanish.docx": f"<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>{P}</w:t></w:r></w:p>",
    "d_symchars.docx": "<w:p><w:r><w:t>Lena Oka</w:t></w:r><w:r><w:noBreakHyphen/></w:r><w:r><w:t>for</w:t></w:r></w:p><w:p><w:r><w:t>Lena</w:t><w:tab/><w:t>Okafor 40718823</w:t><w:br/><w:t>congestive heart failure</w:t></w:r></w:p>",
    "d_moved.docx": f"<w:p><w:moveFrom><w:r><w:t>{P}</w:t></w:r></w:moveFrom></w:p>",
    "d_deltext.docx": "<w:p><w:del><w:r><w:delText>Lena Oka</w:delText></w:r><w:r><w:delText>for 40718823 congestive heart failure</w:delText></w:r></w:del></w:p>",
    "d_delinstr.docx": f"<w:p><w:del><w:r><w:delInstrText>{P}</w:delInstrText></w:r></w:del></w:p>",
    "d_formprotect_ff.docx": '<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="x"/><w:statusText w:type="text" w:val="Lena Okafor 40718823"/><w:helpText w:val="congestive heart failure"/></w:ffData></w:fldChar></w:r></w:p>',
    "d_template_rel.docx word/settings.xml": f"<w:settings {WNS}><w:mailMerge><w:query w:val=\"SELECT * FROM p WHERE name = 'Lena Okafor' AND mrn = 40718823 AND dx = 'congestive heart failure'\"/></w:mailMerge></w:settings>",
    "d_docvars.docx word/settings.xml": f'<w:settings {WNS}><w:docVars><w:docVar w:name="pt" w:val="{P}"/></w:docVars></w:settings>',
    "d_activex.docx word/activeX/activeX1.xml": f'<ax:ocx xmlns:ax="http://schemas.microsoft.com/office/2006/activeX" ax:classid="{{8BD21D10-EC42-11CE-9E0D-00AA006002F3}}"><ax:ocxPr ax:name="Value" ax:value="{P}"/></ax:ocx>',
    "d_glossary.docx word/glossary/document.xml": f"<w:glossaryDocument {WNS}><w:docParts><w:docPart><w:docPartPr><w:name w:val='x'/></w:docPartPr><w:docPartBody>{p(P)}</w:docPartBody></w:docPart></w:docParts></w:glossaryDocument>",
    "d_people.docx word/people.xml": '<w15:people xmlns:w15="http://schemas.microsoft.com/office/word/2012/wordml"><w15:person w15:author="Lena Okafor 40718823 congestive heart failure"/></w15:people>',
    "d_app_titles.docx docProps/app.xml": f'<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties" xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"><TitlesOfParts><vt:vector size="1" baseType="lpstr"><vt:lpstr>{P}</vt:lpstr></vt:vector></TitlesOfParts></Properties>',
    "d_app_hlinks.docx docProps/app.xml": f'<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties" xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"><HLinks><vt:vector size="1" baseType="variant"><vt:variant><vt:lpwstr>https://x/?q={QUOTED}</vt:lpwstr></vt:variant></vt:vector></HLinks></Properties>',
    "d_chart.docx word/charts/chart1.xml": '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart><c:ser><c:cat><c:strRef><c:f>Sheet1!A1</c:f><c:strCache><c:pt idx="0"><c:v>Lena Okafor 40718823</c:v></c:pt><c:pt idx="1"><c:v>congestive heart failure</c:v></c:pt></c:strCache></c:strRef></c:cat></c:ser></c:chart></c:chartSpace>',
    "d_webext.docx word/webextensions/webextension1.xml": f'<we:webextension xmlns:we="http://schemas.microsoft.com/office/webextensions/webextension/2010/11"><we:properties><we:property name="x" value="{{&quot;n&quot;: &quot;{P}&quot;}}"/></we:properties></we:webextension>',
    "d_comment_bare.docx word/comments.xml": f'<w:comments {WNS}><w:comment w:id="1" w:author="Lena Okafor"><w:p><w:r><w:t>4071</w:t></w:r><w:r><w:t>8823 congestive heart failure</w:t></w:r></w:p></w:comment></w:comments>',
    "d_thumb_embedded_txt.docx word/embeddings/oleObject1.bin": P,
    "d_rtf_in_docx.docx word/afchunk1.rtf": r"{\rtf1\ansi Lena Ok\b af\b0 or 407\i 18823\i0  congestive heart f\'61ilure}",
    "d_custom_xml.docx customXml/item1.xml": f"<chart><patient>{P}</patient></chart>",
    "d_unheard_of.docx word/unheardOf.xml": f'<x:a xmlns:x="x" x:whatever="{P}"/>',
    "d_strict.docx word/document.xml": f'<w:document xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"><w:body>{p(P)}</w:body></w:document>',
    "d_fallback.docx": f'<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps"/><mc:Fallback><w:pict><v:textbox><w:txbxContent>{p(P)}</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>',
    "d_thumbnail.docx docProps/thumbnail.emf": metafile(P),
    "d_deleted_between.docx": "<w:p><w:r><w:t>Lena Oka</w:t></w:r><w:del><w:r><w:delText>x</w:delText></w:r></w:del><w:r><w:t>for 40718823 congestive heart failure</w:t></w:r></w:p>",
    "d_field_between.docx": '<w:p><w:r><w:t>Lena Oka</w:t></w:r><w:r><w:instrText> XE "x" </w:instrText></w:r><w:r><w:t>for 40718823 congestive heart failure</w:t></w:r></w:p>',
    "d_symbol.docx": '<w:p><w:r><w:t>Lena Oka</w:t></w:r><w:r><w:sym w:font="Arial" w:char="0066"/></w:r><w:r><w:t>or 40718823 congestive heart failure</w:t></w:r></w:p>',
    "d_field_name.docx": '<w:p><w:fldChar><w:ffData><w:name w:val="Lena_Okafor_40718823_congestive_heart_failure"/></w:ffData></w:fldChar></w:p>',
    "d_block_name.docx word/glossary/document.xml": f'<w:glossaryDocument {WNS}><w:name w:val="Lena Okafor 40718823 congestive heart failure"/></w:glossaryDocument>',
    "d_rel_mailto.docx word/_rels/document.xml.rels": links(
        "hyperlink", f"mailto:a@b?subject={QUOTED}", EXTERNAL
    ),
    "d_rel_file.docx word/_rels/document.xml.rels": links(
        "image", "file:///C:/Lena%20Okafor/40718823/congestive%20heart%20failure.png", EXTERNAL
    ),
    "d_altchunk_html.docx word/chunk.htm": f"<html><body><p>{P}</p></body></html>",
    "x_formula_literal.xlsx": '<row r="1"><c r="A1" t="str"><f>IF(B1=1,"Lena Okafor 40718823 congestive heart failure","")</f><v></v></c></row>',
    "x_formula_concat.xlsx": '<row r="1"><c r="A1"><f>"Lena Okafor"&amp;" 40718823 "&amp;"congestive heart failure"</f></c></row>',
    "x_formula_hyperlink.xlsx": '<row r="1"><c r="A1" t="str"><f>HYPERLINK("https://x/?p=Lena%20Okafor%2040718823%20congestive%20heart%20failure","view")</f><v>view</v></c></row>',
    "x_inline_runs.xlsx": '<row r="1"><c r="A1" t="inlineStr"><is><r><t>Lena Oka</t></r><r><t>for 407</t></r><r><t>18823 congestive heart failure</t></r></is></c></row>',
    "x_array_formula.xlsx": '<row r="1"><c r="A1"><f t="array" ref="A1">LOOKUP(B1,{1,2},{"Lena Okafor 40718823","congestive heart failure"})</f><v>0</v></c></row>',
    "x_datetime_iso.xlsx": '<row r="1"><c r="A1" t="inlineStr"><is><t>Lena Okafor</t></is></c><c r="B1" t="d"><v>1951-03-14</v></c><c r="C1"><v>40718823</v></c><c r="D1" t="str"><v>congestive heart failure</v></c></row>',
    "x_dup_cells.xlsx": f'<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c><c r="A1" t="inlineStr"><is><t>{P}</t></is></c></row>',
    "x_condformat.xlsx rest": '<conditionalFormatting sqref="A1"><cfRule type="containsText" text="Lena Okafor 40718823" priority="1"><formula>NOT(ISERROR(SEARCH("congestive heart failure",A1)))</formula></cfRule></conditionalFormatting>',
    "x_scenario.xlsx rest": '<scenarios><scenario name="Lena Okafor" user="x" comment="MRN 40718823"><inputCells r="A1" val="congestive heart failure"/></scenario></scenarios>',
    "x_header.xlsx rest": "<headerFooter><oddHeader>&amp;LLena Okafor&amp;C40718823&amp;Rcongestive heart failure</oddHeader></headerFooter>",
    "x_tooltip.xlsx rest": '<hyperlinks><hyperlink ref="A1" location="x" display="Lena Okafor" tooltip="40718823 congestive heart failure"/></hyperlinks>',
    "x_protected.xlsx rest": '<protectedRanges><protectedRange name="Lena_Okafor_40718823 congestive heart failure" sqref="A1"/></protectedRanges>',
    "x_ext_dv.xlsx rest": '<extLst><ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"><x14:dataValidations><x14:dataValidation promptTitle="Lena Okafor" prompt="40718823 congestive heart failure"/></x14:dataValidations></ext></extLst>',
    "x_definedname.xlsx book": '<definedNames><definedName name="pt" comment="Lena Okafor">"MRN 40718823 congestive heart failure"</definedName></definedNames>',
    "x_connections.xlsx xl/connections.xml": f'<connections {S}><connection id="1" name="c"><dbPr connection="x" command="SELECT * FROM v WHERE n=\'Lena Okafor\' AND m=40718823 AND d=\'congestive heart failure\'"/></connection></connections>',
    "x_revision.xlsx xl/revisions/revisionLog1.xml": f'<revisions {S}><rcc rId="1" sId="1"><oc r="A1" t="inlineStr"><is><t>Lena Oka</t></is></oc><nc r="A1" t="inlineStr"><is><t>{P}</t></is></nc></rcc></revisions>',
    "x_richdata.xlsx xl/richData/rdrichvalue.xml": '<rvData xmlns="http://schemas.microsoft.com/office/spreadsheetml/2017/richdata" count="1"><rv s="0"><v>Lena Okafor</v><v>40718823</v><v>congestive heart failure</v></rv></rvData>',
    "x_table_totals.xlsx xl/tables/table1.xml": f'<table {S} id="1" name="T" displayName="T" ref="A1:B2" comment="Lena Okafor"><tableColumns><tableColumn id="1" name="MRN 40718823" totalsRowLabel="congestive heart failure"/></tableColumns></table>',
    "x_ctrlprop.xlsx xl/ctrlProps/ctrlProp1.xml": '<formControlPr xmlns="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" objectType="List"><itemLst><item val="Lena Okafor"/><item val="40718823"/><item val="congestive heart failure"/></itemLst></formControlPr>',
    "x_vml_comment.xlsx xl/drawings/vmlDrawing1.vml": '<xml xmlns:v="urn:schemas-microsoft-com:vml"><v:shape><v:textbox><div>Lena Okafor 40718823 congestive heart failure</div></v:textbox></v:shape></xml>',
    "x_drawing_txbody.xlsx xl/drawings/drawing1.xml": '<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><xdr:sp><xdr:txBody><a:p><a:r><a:t>Lena Oka</a:t></a:r><a:r><a:t>for 40718823 congestive heart failure</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:wsDr>',
    "x_threaded.xlsx xl/threadedComments/threadedComment1.xml": f'<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"><threadedComment ref="A1" id="{{1}}"><text>{P}</text></threadedComment></ThreadedComments>',
    "x_phonetic.xlsx xl/sharedStrings.xml": f'<sst {S}><si><t>x</t><rPh sb="0" eb="1"><t>Lena Okafor 40718823 congestive heart failure</t></rPh></si></sst>',
    "x_unused_string.xlsx xl/sharedStrings.xml": f"<sst {S}><si><t>{P}</t></si></sst>",
    "x_sheetname_hidden.xlsx xl/workbook.xml": f'<workbook {S}><sheets><sheet name="Lena Okafor 40718823" state="veryHidden" sheetId="1" r:id="r1"/></sheets><customWorkbookViews><customWorkbookView name="congestive heart failure"/></customWorkbookViews></workbook>',
    "x_prefix_ns.xlsx xl/worksheets/sheet1.xml": f'<x:worksheet xmlns:x="{SHEET}"><x:sheetData><x:row r="1"><x:c r="A1" t="inlineStr"><x:is><x:t>{P}</x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>',
    "x_list.xlsx rest": '<dataValidations><dataValidation type="list" prompt="Lena Okafor" sqref="A1"><formula1>"40718823,congestive heart failure"</formula1></dataValidation></dataValidations>',
    "x_filter.xlsx rest": '<autoFilter ref="A1:A9"><filterColumn colId="0"><filters><filter val="Lena Okafor"/><filter val="40718823"/><filter val="congestive heart failure"/></filters></filterColumn></autoFilter>',
    "x_person.xlsx xl/persons/person.xml": '<personList><person displayName="Lena Okafor 40718823 congestive heart failure" id="x"/></personList>',
    "x_slicer.xlsx xl/slicerCaches/slicerCache1.xml": '<slicerCacheDefinition xmlns="x"><i c="Lena Okafor"/><i c="MRN 40718823"/><i c="congestive heart failure"/></slicerCacheDefinition>',
    "x_chart_sheet.xlsx xl/chartsheets/sheet1.xml": f"<chartsheet {S}><headerFooter><oddHeader>&amp;C{P}</oddHeader></headerFooter></chartsheet>",
    "x_queries.xlsx customXml/item1.xml": queries(f'shared Q = "{P}";'),
    "x_comment_bare_t.xlsx xl/comments1.xml": f'<comments {S}><authors><author>Lena Okafor</author></authors><commentList><comment ref="A1" authorId="0"><text><t>40718823 congestive heart failure</t></text></comment></commentList></comments>',
    "x_escaped.xlsx": '<row r="1"><c r="A1" t="inlineStr"><is><t>Lena_x0020_Okafor_x002C_ 407_x0031_8823 congestive heart failure</t></is></c></row>',
    "p_group.pptx": "<p:grpSp><p:grpSp><p:sp><p:txBody><a:p><a:r><a:t>Lena Oka</a:t></a:r><a:r><a:t>for 40718823 congestive heart failure</a:t></a:r></a:p></p:txBody></p:sp></p:grpSp></p:grpSp>",
    "p_table.pptx": f"<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>{P}</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
    "p_altname.pptx": '<p:pic><p:nvPicPr><p:cNvPr id="1" name="Lena Okafor 40718823 congestive heart failure.png"/></p:nvPicPr></p:pic>',
    "p_smartart.pptx ppt/diagrams/data1.xml": f'<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst><dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>{P}</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>',
    "p_modern_comment.pptx ppt/comments/modernComment_100_0.xml": f'<p188:cmLst xmlns:p188="http://schemas.microsoft.com/office/powerpoint/2018/8/main" {A}><p188:cm><p188:txBody><a:p><a:r><a:t>{P}</a:t></a:r></a:p></p188:txBody></p188:cm></p188:cmLst>',
    "p_vtt.pptx ppt/media/captions1.vtt": f"WEBVTT\n\n00:00.000 --> 00:01.000\n{P}",
    "p_handout.pptx ppt/handoutMasters/handoutMaster1.xml": f"<p:handoutMaster {A}><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>{P}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:handoutMaster>",
    "p_hlink.pptx ppt/slides/_rels/slide1.xml.rels": links("hyperlink", f"https://x/?q={QUOTED}", EXTERNAL),
    "p_section.pptx ppt/presentation.xml": f"<p:presentation {A}><p:custShowLst><p:custShow name='Lena Okafor 40718823' id='0'/></p:custShowLst><p:extLst><p:ext><p14:sectionLst xmlns:p14='http://schemas.microsoft.com/office/powerpoint/2010/main'><p14:section name='congestive heart failure'/></p14:sectionLst></p:ext></p:extLst></p:presentation>",
    "p_drawn_diagram.pptx ppt/diagrams/drawing1.xml": f'<d:drawing xmlns:d="d" {A}><a:p><a:r><a:t>{P}</a:t></a:r></a:p></d:drawing>',
    "p_tag.pptx ppt/tags/tag1.xml": f'<p:tagLst {A}><p:tag name="PATIENT" val="{P}"/></p:tagLst>',
    "p_description.pptx": f'<p:sp><p:cNvPr id="2" name="Title 1" descr="{P}"/></p:sp>',
    "o_annotation.ods": T
    % "<office:annotation><dc:creator>Lena Okafor</dc:creator><text:p>40718823</text:p><text:p>congestive heart failure</text:p></office:annotation><text:p>x</text:p>",
    "o_validation.ods": "<table:content-validations><table:content-validation table:name='v' table:condition=\"of:cell-content-is-in-list(&quot;Lena Okafor&quot;;&quot;40718823&quot;)\"><table:help-message table:title='congestive heart failure'><text:p>x</text:p></table:help-message></table:content-validation></table:content-validations>"
    + CELL,
    "o_tracked.ods": f"<table:tracked-changes><table:cell-content-change><table:previous><table:change-track-table-cell office:value-type='string'><text:p>{P}</text:p></table:change-track-table-cell></table:previous></table:cell-content-change></table:tracked-changes>"
    + CELL,
    "o_named.ods": CELL
    + "<table:named-expressions><table:named-expression table:name='n' table:expression='&quot;Lena Okafor 40718823 congestive heart failure&quot;'/></table:named-expressions>",
    "o_formula.ods": '<table:table table:name="A"><table:table-row><table:table-cell table:formula="of:=IF([.B1]=1;&quot;Lena Okafor 40718823 congestive heart failure&quot;;&quot;&quot;)" office:value-type="string" office:string-value=""/></table:table-row></table:table>',
    "o_stringvalue.ods": f'<table:table table:name="A"><table:table-row><table:table-cell office:value-type="string" office:string-value="{P}"/></table:table-row></table:table>',
    "o_filter.ods": CELL
    + "<table:database-ranges><table:database-range table:name='r'><table:filter><table:filter-condition table:value='Lena Okafor'/><table:filter-condition table:value='40718823'/><table:filter-condition table:value='congestive heart failure'/></table:filter></table:database-range></table:database-ranges>",
    "o_scenario.ods": f'<table:table table:name="A"><table:scenario table:comment="{P}"/><table:table-row><table:table-cell/></table:table-row></table:table>',
    "o_shapes.ods": f'<table:table table:name="A"><table:shapes><draw:frame><draw:text-box><text:p>{P}</text:p></draw:text-box></draw:frame></table:shapes><table:table-row><table:table-cell/></table:table-row></table:table>',
    "o_userfield.odt": f"<text:user-field-decls><text:user-field-decl office:value-type='string' office:string-value='{P}' text:name='x'/></text:user-field-decls><text:p>x</text:p>",
    "o_conditional.odt": "<text:p><text:conditional-text text:condition='x' text:string-value-if-true='Lena Okafor 40718823' text:string-value-if-false='congestive heart failure'>x</text:conditional-text></text:p>",
    "o_hiddentext.odt": f"<text:p><text:hidden-text text:string-value='{P}' text:is-hidden='true'/>x</text:p>",
    "o_dropdown.odt": "<text:p><text:drop-down text:name='x'><text:label text:value='Lena Okafor'/><text:label text:value='40718823'/><text:label text:value='congestive heart failure'/></text:drop-down></text:p>",
    "o_tracked.odt": f"<text:tracked-changes><text:changed-region><text:deletion><text:p>{P}</text:p></text:deletion></text:changed-region></text:tracked-changes><text:p>x</text:p>",
    "o_bookmark.odt": "<text:p><text:bookmark text:name='Lena_Okafor_40718823_congestive_heart_failure'/>x</text:p>",
    "o_form.odt": "<office:forms><form:form><form:text form:name='n' form:value='Lena Okafor' form:current-value='40718823'/><form:listbox form:name='l'><form:option form:label='congestive heart failure' form:value='1'/></form:listbox></form:form></office:forms><text:p>x</text:p>",
    "o_spans.odt": "<text:p>Lena<text:s/>Oka<text:span>for</text:span> 407<text:span>18<text:span>823</text:span></text:span> congestive<text:tab/>heart<text:line-break/>failure</text:p>",
    "o_href.odt": f'<text:p><text:a xlink:href="https://x/?q={QUOTED}">x</text:a></text:p>',
    "o_header.ods styles.xml": f"<office:document-styles {ON}><office:master-styles><style:master-page><style:header><text:p>{P}</text:p></style:header></style:master-page></office:master-styles></office:document-styles>",
    "o_object_chart.ods Object 1/content.xml": f"<office:document-content {ON}><office:body><office:chart><table:table><table:table-row><table:table-cell><text:p>{P}</text:p></table:table-cell></table:table-row></table:table></office:chart></office:body></office:document-content>",
    "o_basic.odt Basic/Standard/Module1.xml": f"<script:module xmlns:script='http://openoffice.org/2000/script' script:name='M'>REM {P}</script:module>",
    "o_table_name.odt": '<table:table table:name="Lena Okafor 40718823 congestive heart failure"/>',
    "o_odb.odb database/script": f"CREATE TABLE P(N VARCHAR(50))\nINSERT INTO P VALUES('{P}')",
    "o_odg.odg": f"<office:drawing><draw:page><draw:custom-shape><text:p>{P}</text:p></draw:custom-shape></draw:page></office:drawing>",
    "o_layer_title.odp": "<office:presentation><draw:page draw:name='Lena Okafor'><presentation:notes><draw:frame><draw:text-box><text:p>40718823 congestive heart failure</text:p></draw:text-box></draw:frame></presentation:notes></draw:page></office:presentation>",
    "o_sxw.sxw content.xml": "<office:document-content xmlns:office='http://openoffice.org/2000/office' xmlns:text='http://openoffice.org/2000/text'><office:body><text:p>Lena Oka<text:span>for</text:span> 40718823 congestive heart failure</text:p></office:body></office:document-content>",
    "r_bkmk.rtf": "{\\*\\bkmkstart Lena_Okafor_40718823_congestive_heart_failure}x{\\*\\bkmkend a}",
    "r_annotation.rtf": "x{\\*\\atnauthor Lena Okafor}{\\*\\annotation 40718823 congestive heart failure}",
    "r_formfield.rtf": "{\\field{\\*\\fldinst FORMTEXT {\\*\\formfield{\\fftype0{\\*\\ffname x}{\\*\\ffdeftext Lena Okafor 40718823}{\\*\\ffhelptext congestive heart failure}}}}{\\fldrslt x}}",
    "r_ffl.rtf": "{\\field{\\*\\fldinst FORMDROPDOWN {\\*\\formfield{\\fftype2{\\*\\ffl Lena Okafor}{\\*\\ffl 40718823}{\\*\\ffl congestive heart failure}}}}{\\fldrslt x}}",
    "r_docvar.rtf": "{\\*\\docvar {pt}{%s}}x" % P,
    "r_userprops.rtf": "{\\*\\userprops{\\propname pt}\\proptype30{\\staticval %s}}x" % P,
    "r_htmltag.rtf": "\\fromhtml1{\\*\\htmltag64 <p>}\\htmlrtf {\\htmlrtf0 Lena Oka{\\*\\htmltag84 <b>}for{\\*\\htmltag92 </b>} 407{\\*\\htmltag84 &nbsp;}\\htmlrtf\\'a0\\htmlrtf0 congestive heart failure}{\\*\\htmltag241 <!-- 40718823 -->}",
    "r_htmltag_only.rtf": "\\fromhtml1{\\*\\htmltag1 <p>%s</p>}" % P,
    "r_xe.rtf": "x{\\xe {Lena Okafor 40718823}}{\\tc {congestive heart failure}}",
    "r_fldinst.rtf": '{\\field{\\*\\fldinst HYPERLINK "https://x/?q=%s"}{\\fldrslt x}}' % QUOTED,
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
    "e_metadata.epub c.opf": f"<package xmlns='http://www.idpf.org/2007/opf'><metadata xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:description>{P}</dc:description></metadata></package>",
    "e_ncx.epub toc.ncx": f"<ncx xmlns='http://www.daisy.org/z3986/2005/ncx/'><docTitle><text>{P}</text></docTitle></ncx>",
    "e_unlisted.epub extra/x.xhtml": f"<html><body>{P}</body></html>",
}
CASES = {place.partition(" ")[0]: made(place, text) for place, text in PLACES.items()}
RUNS = {
    "control.docx word/activeX/activeX1.bin": b"\x10\x1d" + bytes(20) + P.encode("utf-16-le") + bytes(9),
    "data.docx word/foo.bin": b"\0\1\2\3" * 9 + P.encode() + b"\0\1\2",
    "data.odb database/data": b"\0\0\0\1" + struct.pack(">I", len(P)) + P.encode() + b"\0\0\2",
}


@pytest.mark.parametrize("name", CASES)
def test_text_in_a_further_place_is_read(read: Read, name: str) -> None:
    document = read(CASES[name], name)
    shown = " ".join(document.text.split())
    for word in WORDS:
        assert word in shown
    assert not document.unread


@pytest.mark.parametrize(
    ("name", "word", "place"),
    [
        ("p_smartart.pptx", "Lena Okafor", "#diagram1"),
        ("p_handout.pptx", "Lena Okafor", "#handout1"),
        ("d_comment_bare.docx", "40718823", "#comments"),
        ("e_metadata.epub", "Lena Okafor", "#properties"),
    ],
)
def test_the_text_of_a_part_is_at_its_place(read: Read, name: str, word: str, place: str) -> None:
    document = read(CASES[name], name)
    assert document.locate(document.text.index(word)) == place


@pytest.mark.parametrize("place", RUNS)
def test_runs_of_text_in_unknown_data_are_read_and_the_rest_is_listed(read: Read, place: str) -> None:
    document = read(made(place, RUNS[place]), place.partition(" ")[0])
    assert P in document.text
    assert "only the runs of text in it are read" in document.unread[0].detail


def test_automatic_names_and_values_of_drawing_are_no_text(read: Read) -> None:
    marks = "".join(
        f'<w:bookmarkStart w:id="{n}" w:name="{name}"/>'
        for n, name in enumerate(("_Toc123456", "_Ref99887766", "OLE_LINK1", "_GoBack"))
    )
    fonts = '<w:r><w:rPr><w:rFonts w:ascii="Times New Roman"/></w:rPr></w:r>'
    text = read(docx(f"<w:p>{marks}{fonts}<w:r><w:t>Hello</w:t></w:r></w:p>"), "a.docx").text
    assert text.split() == ["Hello"]
    assert read(pptx('<p:sp><p:cNvPr id="2" name="Title 1"/></p:sp>'), "a.pptx").text == ""


@pytest.mark.parametrize(
    "cell",
    [
        '<table:table-cell office:value-type="string"><text:p>Lena<text:tab/>Okafor</text:p></table:table-cell>',
        '<table:table-cell office:value-type="string"><text:p>Lena<text:line-break/>Okafor</text:p></table:table-cell>',
        "<table:table-cell><text:p>Lena Okafor</text:p></table:table-cell>",
    ],
)
def test_words_of_a_cell_of_opendocument_stay_apart(read: Read, cell: str) -> None:
    table = f'<table:table table:name="A"><table:table-row>{cell}</table:table-row></table:table>'
    entry = '<m:file-entry m:full-path="/" m:media-type="application/vnd.oasis.opendocument.spreadsheet"/>'
    manifest = (
        f'<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">{entry}</m:manifest>'
    )
    data = ods(table, {"META-INF/manifest.xml": manifest})  # the reader of cells asks for one
    assert "Lena Okafor" in " ".join(read(data, "a.ods").text.split())


def test_dates_and_addresses_of_controls_and_commentators_are_read(read: Read) -> None:
    control = '<w:sdt><w:sdtPr><w:date w:fullDate="1951-03-14T00:00:00Z"/></w:sdtPr><w:sdtContent/></w:sdt>'
    people = {"word/people.xml": '<p><presenceInfo userId="S::Lena Okafor@example.org::1"/></p>'}
    text = read(docx(control, people), "a.docx").text
    assert "1951-03-14" in text
    assert "Lena Okafor@example.org" in text


def test_the_data_model_of_a_workbook_is_named(read: Read) -> None:
    model = b"\xff\xfe" + "STREAM_STORAGE_SIGNATURE_)!@#$%^&*(".encode("utf-16-le") + bytes(range(256)) * 9
    document = read(xlsx(parts={"xl/model/item.data": model}), "a.xlsx")
    assert any("data model of Excel" in part.detail for part in document.unread)


def pivot(*records: str) -> bytes:
    """Return a workbook with a pivot table of names and numbers, of which two names are listed."""
    definition = '<pivotCacheDefinition><cacheFields><cacheField name="Last name"><sharedItems><s v="Okafor"/><s v="Roy"/></sharedItems></cacheField><cacheField name="MRN"><sharedItems/></cacheField></cacheFields></pivotCacheDefinition>'
    caches = {
        "xl/pivotCache/pivotCacheDefinition1.xml": definition,
        "xl/pivotCache/pivotCacheRecords1.xml": f"<pivotCacheRecords>{''.join(records)}</pivotCacheRecords>",
    }
    return xlsx(parts=caches)


def test_caches_of_pivot_tables_and_linked_books_are_tables_of_records(read: Read) -> None:
    data = pivot('<r><x v="0"/><n v="40718823"/></r>', '<r><x v="99"/><n v="1"/></r>')
    text = read(data, "p.xlsx").text
    assert "Last name: Okafor | MRN: 40718823" in text
    assert "Last name: Roy" in text  # in no record any more
    link = "<externalLink><externalBook><sheetDataSet><sheetData><row r='1'><cell r='A1'><v>Name</v></cell><cell r='B1'><v>MRN</v></cell></row><row r='2'><cell r='A2'><v>Okafor</v></cell><cell r='B2'><v>40718823</v></cell></row></sheetData></sheetDataSet></externalBook></externalLink>"
    linked = read(xlsx(parts={"xl/externalLinks/externalLink1.xml": link}), "a.xlsx")
    assert "Name: Okafor | MRN: 40718823" in linked.text
    assert not linked.unread


def test_a_sheet_that_its_workbook_does_not_list_any_more_is_read(read: Read) -> None:
    cells = '<row r="1"><c r="A1" t="inlineStr"><is><t>Lena_x0020_Okafor</t></is></c><c r="B1"><v>40718823</v></c></row>'
    sheet = f"<worksheet {S}><sheetData>{cells}</sheetData></worksheet>"
    document = read(xlsx(parts={"xl/worksheets/sheet9.xml": sheet}), "a.xlsx")
    assert document.locate(document.text.index("Lena Okafor | 40718823")) == "#sheet9!A1"
