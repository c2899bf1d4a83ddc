from __future__ import annotations

import codecs
import gzip
import io
import lzma
import os
import threading

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from weft.errors import FormatError, LineCountError
from weft.text.lines import (
    decode,
    decode_text,
    display_name,
    read_lines,
    read_together,
    read_whole_lines,
    rereadable,
    zstandard,
)
from weft.text.not_text import why_not_text


def compress_zstandard(data: bytes) -> bytes:
    # The zstd program adds a checksum by default, the library does not.
    return zstandard().compress(data, options={zstandard().CompressionParameter.checksum_flag: 1})


COMPRESSORS = {"plain": bytes, "gz": gzip.compress, "xz": lzma.compress, "zst": compress_zstandard}
TEXT = "das ist gut\n\nça va ?\n".encode()


def lines_of(tmp_path, data: bytes) -> list[bytes]:
    path = tmp_path / "file.txt"
    path.write_bytes(data)
    return list(read_lines(path))


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_compression_is_found_by_content_whatever_the_name(tmp_path, kind):
    assert lines_of(tmp_path, COMPRESSORS[kind](TEXT)) == [b"das ist gut", b"", "ça va ?".encode()]


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_archives_joined_end_to_end_are_read_to_the_end(tmp_path, kind):
    compress = COMPRESSORS[kind]
    assert lines_of(tmp_path, compress(b"one\n") + compress(b"two\n")) == [b"one", b"two"]


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_a_truncated_archive_is_an_error_and_never_a_short_file(tmp_path, kind):
    data = COMPRESSORS[kind](os.urandom(200_000).hex().encode())
    with pytest.raises(FormatError, match=r"file\.txt:\d+: .*damaged or cut short"):
        lines_of(tmp_path, data[: len(data) // 2])


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_a_damaged_archive_is_an_error(tmp_path, kind):
    data = bytearray(COMPRESSORS[kind](os.urandom(50_000).hex().encode()))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(FormatError, match="damaged"):
        lines_of(tmp_path, bytes(data))


@pytest.mark.parametrize("text", [b"(", b"(\xb5", b"\x1f", b"\xfd7z", b""])
def test_text_that_begins_like_an_archive_is_still_text(tmp_path, text):
    assert lines_of(tmp_path, text + b"\n") == [text]


def test_only_newlines_end_lines(tmp_path):
    odd = "a\rb\x0bc\x0cd\x85e\u2028f".encode()
    assert lines_of(tmp_path, odd + b"\r\n" + b"\r\r\n") == [odd, b"\r"]


def test_one_bom_at_the_start_is_dropped(tmp_path):
    bom = b"\xef\xbb\xbf"
    assert lines_of(tmp_path, bom + b"a\n" + bom + b"b\n") == [b"a", bom + b"b"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_whole_lines_are_the_file(tmp_path, encoding):
    text = "\ufeffa b\r\nc\r\r\n\nd"
    (tmp_path / "file").write_bytes(text.encode(encoding))
    assert b"".join(read_whole_lines(tmp_path / "file")) == text.encode()
    assert len(list(read_whole_lines(tmp_path / "file"))) == len(list(read_lines(tmp_path / "file")))
    assert lines_of(tmp_path, "\ufeff".encode(encoding)) == []


def test_the_last_line_needs_no_end(tmp_path):
    assert lines_of(tmp_path, b"a\nb") == [b"a", b"b"]
    assert lines_of(tmp_path, b"") == []


def is_taken_for_text(data: bytes) -> bool:
    """Whether a file may begin so: PDF, archives and UTF-16 without its mark are refused, other UTF-16 is rewritten."""
    first = data.split(b"\n")[0] + b"\n"
    return not why_not_text(first) and not first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line and not line.endswith(b"\r"))))
def test_lines_come_back_as_written(tmp_path_factory, lines):
    written = b"".join(line + b"\n" for line in lines)
    assume(is_taken_for_text(written))
    path = tmp_path_factory.mktemp("lines") / "file"
    path.write_bytes(gzip.compress(written))
    expected = [line.removeprefix(codecs.BOM_UTF8) if i == 0 else line for i, line in enumerate(lines)]
    assert list(read_lines(path)) == expected


@pytest.mark.parametrize("written", [b"first\n", "first\n".encode("utf-16"), "今天\n".encode("utf-16"), b"\xfffirst\n"])
def test_lines_of_a_pipe_arrive_before_the_pipe_is_closed(tmp_path, written):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    may_close = threading.Event()

    def feed() -> None:
        with pipe.open("wb", buffering=0) as file:
            file.write(written)
            may_close.wait(timeout=400)

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        assert next(read_lines(pipe)) in (b"first", "今天".encode(), b"\xfffirst")
        assert feeder.is_alive(), "the line came only with the end of the pipe"
    finally:
        may_close.set()
        feeder.join()


def test_bad_utf8_names_file_line_and_byte():
    with pytest.raises(FormatError) as caught:
        decode(b"ab\xffcd", "corpus.txt", 7)
    assert (caught.value.path, caught.value.line, caught.value.byte) == ("corpus.txt", 7, 3)
    assert str(caught.value).startswith("corpus.txt:7:3: expected UTF-8, found the byte ff.")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\n", "this is a PDF, not text"),
        (b"PK\x03\x04\x14\0", "this is a ZIP archive, as DOCX"),
        (b"PAR1\x15\x04", "Only `engine` ray reads Parquet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "this is an old Office file, as XLS and DOC are"),
        (b"{\\rtf1\\ansi das ist gut}\n", "this is a Rich Text file"),
        (b"BZh91AY&SY", "compressed with bzip2"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "this is a picture"),
        ("I am here".encode("utf-16-le"), r"UTF-16 without a byte order mark\. Convert the file: iconv -f UTF-16LE"),
        ("I am here\r\nthere\r\n".encode("utf-16-be"), "iconv -f UTF-16BE"),
        ("Мама мыла раму .\n".encode("utf-16-le"), "iconv -f UTF-16LE"),
    ],
)
def test_files_that_are_not_text_are_refused_by_how_they_begin(tmp_path, content, message):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        list(read_lines(tmp_path / "x"))


@pytest.mark.parametrize("text", [b"BZhang left", b"GIF8", b"GIF 89"])
def test_text_may_begin_like_another_kind_of_file(tmp_path, text):
    assert lines_of(tmp_path, text + b"\n") == [text]


@pytest.mark.parametrize("text", ["a\0b\n", "\0\n", "das\0ist ||| \0 that\n", "\0\0\0\0\0\0\n", "\x01 \x02 \x03 \n"])
def test_a_stray_zero_byte_does_not_make_a_file_utf16(tmp_path, text):
    assert lines_of(tmp_path, text.encode()) == [text.encode().removesuffix(b"\n")]


def test_bad_bytes_among_zeros_are_not_taken_for_windows():
    with pytest.raises(FormatError, match=r"found the byte ca\. There are zero bytes too, .* iconv -f UTF-16LE"):
        decode("今天 Æ\n".encode("utf-16-le"), "a", 1)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.parametrize("kind", COMPRESSORS)
def test_utf16_with_a_byte_order_mark_is_read(tmp_path, kind, encoding):
    text = ("" if encoding == "utf-16" else "\ufeff") + "Mädchen\tgirl\r\n\r\n\u010a 𝄞\u2028\n"
    assert lines_of(tmp_path, COMPRESSORS[kind](text.encode(encoding))) == [
        "Mädchen\tgirl".encode(),
        b"",
        "\u010a 𝄞\u2028".encode(),  # U+010A has the byte of a newline in it
    ]


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_utf16_gives_the_lines_that_utf8_would(tmp_path_factory, lines):
    folder = tmp_path_factory.mktemp("utf16")
    text = "".join(line + "\n" for line in lines)
    (folder / "8").write_text(text, encoding="utf-8", newline="\n")
    (folder / "16").write_text(text, encoding="utf-16", newline="\n")
    # A second mark at the start would be dropped from UTF-8, where the first one is not written.
    assume(not text.startswith("\ufeff") and is_taken_for_text(text.encode()))
    assert list(read_lines(folder / "16")) == list(read_lines(folder / "8"))


def test_half_a_character_of_utf16_spoils_its_own_line_alone(tmp_path):
    lines = lines_of(tmp_path, "\ufeffgut\n".encode("utf-16-le") + b"\x3d\xd8\n\0" + "besser\n".encode("utf-16-le"))
    assert (lines[0], lines[2]) == (b"gut", b"besser")
    with pytest.raises(FormatError, match="a:2:1: found half of a character that UTF-16 writes in two parts"):
        decode(lines[1], "a", 2)


def test_utf16_that_ends_within_a_character_is_an_error(tmp_path):
    with pytest.raises(FormatError, match=r"file\.txt:2: this UTF-16 text is damaged or cut short"):
        lines_of(tmp_path, "gut\nbesser".encode("utf-16")[:-1])


def test_a_first_byte_of_utf16_alone_is_a_bad_line(tmp_path):
    assert lines_of(tmp_path, b"\xff\n") == [b"\xff"]
    assert lines_of(tmp_path, b"\xfe") == [b"\xfe"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_whole_text_is_read_in_the_same_encodings_as_lines(encoding):
    text = "Mädchen\r\n今天 𝄞"
    data = (("\ufeff" if encoding == "utf-16-be" else "") + text).encode(encoding)
    assert decode_text(data, "a") == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"gut\nM\xe4dchen\n", "^a:2:2: expected UTF-8, found the byte e4"),
        (b"\xff\xfegut\n", "^a:1:1: expected UTF-8, found the byte ff"),
        ("gut\nbesser".encode("utf-16")[:-1], "^a: this UTF-16 text is damaged or cut short"),
        ("\ufeffgut\n".encode("utf-16-le") + b"\x3d\xd8\n\0", "^a:2:1: found half of a character"),
    ],
)
def test_a_whole_text_in_no_encoding_names_its_place(data, message):
    with pytest.raises(FormatError, match=message):
        decode_text(data, "a")


def test_files_of_different_length_are_named_with_their_counts():
    with pytest.raises(LineCountError, match=r"a\.txt has 3 lines but b\.txt has 1 line;"):
        list(read_together(["a.txt", "b.txt"], [iter([1, 2, 3]), iter([1])]))


def test_a_pipe_can_be_read_twice_and_keeps_its_name(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(gzip.compress(TEXT))

    monkeypatch.setattr("sys.stdin", Stdin)
    with rereadable("-") as path:
        assert list(read_lines(path)) == list(read_lines(path)) == [b"das ist gut", b"", "ça va ?".encode()]
        assert display_name(path) == "stdin"


def test_a_first_line_with_bad_bytes_does_not_make_a_file_utf16(tmp_path):
    lines = [b"\xff\xfe bad ||| bytes", b"das ||| that", "schön ||| \0 学生 beautiful".encode(), b"gut ||| good"]
    assert lines_of(tmp_path, b"\n".join(lines) + b"\n") == lines


def test_a_name_that_no_file_can_have_is_that_of_a_missing_file():
    with pytest.raises(FileNotFoundError):
        read_lines("a\0b")


@pytest.mark.parametrize("text", [b"BZh", b"%PDF-", b"a\0b\0c\0d\0e\0f\0g"])
def test_text_with_the_mark_of_utf8_is_text_however_it_goes_on(tmp_path, text):
    assert lines_of(tmp_path, codecs.BOM_UTF8 + text + b"\n") == [text]
