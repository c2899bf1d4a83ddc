"""Markdown: what is no text stays as it is, byte for byte; a segment is a paragraph, a heading or a cell of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weft.applications.arranging import Part, Piece, Tag
from weft.applications.documents.inline import DocumentSegment, Languages, TextBuilder, trimmed, without_hollow
from weft.applications.markup import Element, Markup
from weft.errors import FormatError, MissingExtraError
from weft.text.lines import decode_text

# More than that takes minutes to read.
_LARGEST = 20_000_000
# Characters that may mean something wherever they stand, and what may mean something at the beginning of a line.
_SPECIAL = re.compile(r"[\\`*\[\]]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w{1,32};)|~~|!(?=\[)")
_AT_START = re.compile(r"(>|[-+](?= |$)|#{1,6}(?= |$)|={1,}(?=\s*$)|-{1,}(?=\s*$))|(\d{1,9})([.)])(?= |$)")
# What one paragraph is read as.
_PARAGRAPH = ["paragraph_open", "inline", "paragraph_close"]
_TASK = re.compile(r"\[[ xX]\] +")
# How an element is written in HTML, where Markdown's own signs would not be understood.
_IN_HTML = {"strong": "strong", "em": "em", "s": "del"}


@dataclass(frozen=True, slots=True)
class _Place:
    """Lines of a file, and the characters of the first and the last of them between which a segment stands.

    If it has several lines, `break_sign` is how a line of it is broken, and `indent` what stands before the second.
    """

    first: int
    behind: int
    start: int
    end: int
    in_table: bool
    break_sign: str = ""
    indent: str = ""


class MarkdownDocument:
    """A text in Markdown, with the tables and strikethrough of GitHub."""

    language: str | None = None  # it does not go on naming that of the original

    def __init__(self, data: bytes, name: str, languages: Languages) -> None:
        if len(data) > _LARGEST:
            raise FormatError(name, None, f"the text has more than {_LARGEST:,} bytes; split it.")
        self._text = decode_text(data, name)
        self._parser = _parser()
        self._lines = self._text.replace("\r\n", "\n").split("\n")
        self._new: dict[_Place, str] = {}
        self._places: list[_Place] = []
        self.segments: list[DocumentSegment] = []
        for token, place in _located(self._parser.parse("\n".join(self._lines)), self._lines):
            markup = _markup(token)
            if markup.text.strip():
                self._places.append(place)
                self.segments.append(DocumentSegment(markup))

    def fill(self, number: int, pieces: Sequence[Piece]) -> list[str]:
        """Put a translated segment in its place, and name the elements that Markdown could not write."""
        place = self._places[number]
        kept, lost = _writable(pieces)
        # Stars may stand within a word, where underscores may not; tags may stand anywhere.
        stars: set[int] = set()
        html: set[int] = set()
        written = _written(kept, stars, html, place)
        while (wrong := self._misread(written, kept)) and not wrong <= html:
            html |= wrong & stars
            stars |= wrong
            written = _written(kept, stars, html, place)
        self._new[place] = written.replace("\n", f"\n{place.indent}")
        return lost

    def _misread(self, written: str, pieces: Sequence[Piece]) -> set[int]:
        """Elements that a reader would not see as such, because of the characters around their signs."""
        if written.startswith("~~~"):  # two that begin a line together would open a block of code
            return {id(element) for element, _ in _texts(pieces) if element.name == "s"}
        breaks = {id(piece.element) for piece in pieces if isinstance(piece, Tag) and piece.element.name == "hardbreak"}
        if breaks and "\n" in written and [token.type for token in self._parser.parse(written)] != _PARAGRAPH:
            return breaks
        [token] = [token for token in self._parser.parseInline(written) if token.type == "inline"]
        read = _markup(token)
        seen = [(item.name, "".join(read.text[item.start : item.end].split())) for item in read.elements]
        missing = set()
        for element, text in _texts(pieces):
            if (element.name, "".join(text.split())) in seen:
                seen.remove((element.name, "".join(text.split())))
            elif element.name in _IN_HTML:
                missing.add(id(element))
        return missing

    def written(self) -> bytes:
        """The text."""
        lines: list[str | None] = list(self._lines)
        # From the last to the first, so that places in a line stay where they are.
        for place in sorted(self._new, key=lambda place: (place.first, place.start), reverse=True):
            first, last = lines[place.first] or "", lines[place.behind - 1] or ""
            lines[place.first] = first[: place.start] + self._new[place] + last[place.end :]
            for number in range(place.first + 1, place.behind):
                lines[number] = None
        newline = "\r\n" if "\r\n" in self._text else "\n"
        return "\n".join(line for line in lines if line is not None).replace("\n", newline).encode("utf-8")


def _parser() -> Any:
    try:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.footnote import footnote_plugin
        from mdit_py_plugins.front_matter import front_matter_plugin
    except ImportError as error:
        raise MissingExtraError("documents", "Reading Markdown") from error
    parser = MarkdownIt("commonmark", {"store_labels": True}).enable(["table", "strikethrough"])
    return parser.use(front_matter_plugin).use(footnote_plugin, inline=False, move_to_end=False)


def _located(tokens: Sequence[Any], lines: Sequence[str]) -> Iterator[tuple[Any, _Place]]:
    """Inline tokens with the place of their content in the lines."""
    in_table, column, row = False, 0, -1
    for token in tokens:
        if token.type in ("table_open", "table_close"):
            in_table = token.type == "table_open"
        if token.type != "inline" or not token.content.strip() or token.map is None:
            continue
        first, behind = token.map
        breaking = "", ""
        if in_table:
            column = column if row == first else 0
            row = first
            # A bar in a cell is escaped in the file, and not in its content.
            content = next((text for text in _spellings(token.content) if text in lines[first][column:]), "")
            start = lines[first].find(content, column) if content else -1
            end = start + len(content)
            column, behind = max(column, end), first + 1
        else:
            parts = token.content.split("\n")
            behind = first + len(parts)
            start = lines[first].find(parts[0])
            end = lines[behind - 1].rfind(parts[-1]) + len(parts[-1])
            if len(parts) > 1:
                breaking = _breaking(parts, lines[first + 1])
        if start >= 0:
            if found := _TASK.match(token.content):
                start += found.end()
                token = _without(token, found.end())
            yield token, _Place(first, behind, start, end, in_table, *breaking)


def _breaking(parts: Sequence[str], second: str) -> tuple[str, str]:
    """How lines of a paragraph are broken, and what stands before the second of them in the file."""
    sign = "\\\n" if any(part.endswith("\\") for part in parts[:-1]) else "  \n"
    return sign, second[: max(second.find(parts[1].lstrip()), 0)]


def _spellings(cell: str) -> tuple[str, str]:
    return cell, cell.replace("|", "\\|")


def _without(token: Any, length: int) -> Any:
    """The token without its first characters, which are text and no words."""
    for child in token.children:
        if child.type == "text":
            child.content = child.content[length:] if len(child.content) >= length else ""
            break
    return token


def _markup(token: Any) -> Markup:
    builder = TextBuilder()
    waiting: list[Element] = []
    for child in token.children or ():
        if child.type == "text":
            builder.add(child.content)
        elif child.type == "softbreak":
            builder.part()
        elif child.type.endswith("_open"):
            waiting.append(_element(child, child.type.removesuffix("_open")))
            builder.start(waiting[-1])
        elif child.type.endswith("_close"):
            builder.end(waiting.pop())
        elif child.type == "code_inline":
            element = _element(child, "code")
            builder.start(element)
            builder.add(child.content)
            builder.end(element)
        elif child.type == "html_inline":
            _html(builder, child.content)
        elif child.type == "footnote_ref":
            mark = f"[^{child.meta['label']}]"
            builder.point(Element(mark, {}, alone=True, code=(mark, "")))
        else:  # image, hardbreak
            if child.type == "hardbreak":
                builder.part()
            builder.point(Element(child.type, {}, alone=True, breaks=child.type == "hardbreak", origin=child))
    return trimmed(builder.built())


def _element(token: Any, name: str) -> Element:
    return Element(name, {}, nests=name not in ("link", "code"), may_be_empty=name != "link", origin=token)


def _html(builder: TextBuilder, tag: str) -> None:
    """A tag of HTML among the words: an element, if its end tag comes, else a point."""
    if ending := re.fullmatch(r"</([A-Za-z][\w-]*)\s*>", tag):
        partner = builder.begun(f"<{ending[1].lower()}>", "")
        if partner is not None and partner.code is not None:
            partner.code = (partner.code[0], tag)
            builder.finish(partner)
            return
    name = re.match(r"<([A-Za-z][\w-]*)", tag)
    is_break = name is not None and name[1].lower() == "br"
    if is_break:
        builder.part()
    element = Element(f"<{name[1].lower()}>" if name else tag, {}, alone=True, breaks=is_break, code=(tag, ""))
    if name and not tag.endswith("/>"):
        builder.begin(element)
    else:
        builder.point(element)


def _texts(pieces: Sequence[Piece]) -> Iterator[tuple[Element, str]]:
    """Each part of an element with the text it stands around."""
    open_parts: list[tuple[Element, list[str]]] = []
    for piece in pieces:
        if isinstance(piece, str):
            for _, texts in open_parts:
                texts.append(piece)
        elif piece.part is Part.OPEN:
            open_parts.append((piece.element, []))
        elif piece.part is Part.CLOSE:
            [last] = [n for n, (element, _) in enumerate(open_parts) if element is piece.element][-1:]
            element, texts = open_parts.pop(last)
            if texts:
                yield element, "".join(texts)


def _writable(pieces: Sequence[Piece]) -> tuple[list[Piece], list[str]]:
    """Pieces that Markdown can write, and the names of elements it cannot: those around nothing, and within code."""
    pieces, lost = without_hollow(pieces, lambda element: element.code is None)
    kept: list[Piece] = []
    inside: Element | None = None
    waiting: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str):
            kept.append(piece)
        elif inside is not None and piece.element is not inside:
            if piece.part is Part.WHOLE or piece.element.code is not None:
                waiting.append(piece)
            elif piece.part is Part.OPEN:
                lost.append(piece.element.name)
        else:
            kept.append(piece)
            if piece.element.name == "code":
                inside = piece.element if piece.part is Part.OPEN else None
                if inside is None:
                    kept, waiting = kept + waiting, []
    return kept, lost


def _written(pieces: Sequence[Piece], stars: set[int], html: set[int], place: _Place) -> str:
    """Pieces as Markdown; elements in `stars` without underscores, and those in `html` by tags of HTML."""
    written: list[str] = []
    code = False
    for number, piece in enumerate(pieces):
        if isinstance(piece, str):
            starts = not "".join(written).rpartition("\n")[2].strip()
            piece = piece.lstrip(" ") if starts and written else piece
            text = piece if code else escaped(piece, at_start=starts)
            written.append(text.replace("|", "\\|") if place.in_table else text)
            continue
        if piece.element.name == "code":
            code = piece.part is Part.OPEN
        following = pieces[number + 1] if number + 1 < len(pieces) else ""
        if piece.element.name == "hardbreak" and id(piece.element) not in html and _parts_lines(pieces, number):
            written.append(place.break_sign or "<br>")
            continue
        sign = _sign(piece, following, in_html=id(piece.element) in html)
        written.append(sign.replace("_", "*") if sign in ("_", "__") and id(piece.element) in stars else sign)
    return "".join(written)


def _parts_lines(pieces: Sequence[Piece], number: int) -> bool:
    """Whether a line break has words on both sides of it, next to it or within whole elements."""
    sides = (reversed(pieces[:number]), Part.CLOSE), (pieces[number + 1 :], Part.OPEN)
    neighbours = ((next((piece for piece in side if piece != " "), None), part) for side, part in sides)
    return all(piece and (isinstance(piece, str) or piece.part is part) for piece, part in neighbours)


def _sign(tag: Tag, following: Piece, *, in_html: bool) -> str:
    element, token = tag.element, tag.element.origin
    if element.code is not None:
        return {Part.OPEN: element.code[0], Part.CLOSE: element.code[1], Part.WHOLE: "".join(element.code)}[tag.part]
    if element.name == "hardbreak":
        return "<br>"  # which may stand where no line may end
    if element.name == "image":
        return f"![{escaped(token.content)}]{_address(token, 'src')}"
    if element.name == "link":
        if token.markup == "autolink":
            return "<" if tag.part is Part.OPEN else ">"
        return "[" if tag.part is Part.OPEN else f"]{_address(token, 'href')}"
    if in_html:
        return f"<{'/' if tag.part is Part.CLOSE else ''}{_IN_HTML[element.name]}>"
    if element.name == "code":
        inner = following if isinstance(following, str) else ""
        longest = max(map(len, re.findall("`+", inner)), default=0)
        return "`" * max(len(token.markup), longest + 1)
    return str(token.markup)


def _address(token: Any, name: str) -> str:
    if label := token.meta.get("label"):
        return f"[{label.lower()}]"
    address, title = token.attrGet(name) or "", token.attrGet("title")
    address = f"<{address}>" if re.search(r"[\s()]", address) or not address else address
    return f'({address} "{title.replace(chr(34), chr(92) + chr(34))}")' if title else f"({address})"


def escaped(text: str, *, at_start: bool = False) -> str:
    """Text with the characters escaped that Markdown would take for its own."""
    text = _SPECIAL.sub(lambda match: "\\" + match.group(), text)
    sign = _AT_START.match(text) if at_start else None
    if sign is None:
        return text
    before = sign.start(1) if sign[1] else sign.start(3)
    return f"{text[:before]}\\{text[before:]}"
