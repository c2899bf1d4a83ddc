"""Files as people have them and as nobody should, made from a seeded source of chance."""

from __future__ import annotations

import gzip
import json
import lzma
from random import Random

WORDS = (
    *("das", "ist", "gut", "that", "is", "good", ".", ",", "Haus", "house", "1.5", "it's", "l'homme"),
    *("私", "は", "学生です", "我们", "ภาษาไทย", "العربية", "ქართული"),
    *("🙂", "👨‍👩‍👧", "e\u0301", "\u00a0", "\u3000", "\u2028"),
    *("|||", "||", "0-0", "<b>", "</b>", "&amp;", "{name}", "%s", "\u200b", "\ufeff", "\x0c", "\x00", "\r"),
    *("[UNK]", "[CLS]", "x" * 300, "B-PER", "O", "-", "--help", "\u202e", "ﷺ"),
)  # fmt: skip
BAD_LINES = (
    *(b"", b" ", b"\t", b"no separator", b"|||", b" ||| ", b"a ||| ", b" ||| b", b"a ||| b ||| c"),
    b"\xff\xfe bad ||| bytes",
    *(b"{", b"{}", b"[]", b"null", b'{"source": 3, "target": null}', b'{"source": "\\ud800", "target": "a"}', b"\r"),
    *(b"[" * 3000, b'{"source": ' + b"[" * 3000, b'{"a": 1' + b"0" * 5000 + b"}", b'{"source": NaN, "target": [1]}'),
    *(b"a\tb\tc\td", b"\ta", b"a\t", b"0-0 1-1", b"1 1 1 S", b"99999999999-0"),
    *(b"0-0:nan", b"-1-0", b"0-0:1e999", b"1p1 2x2"),
    *(b'{"links": [[0, 0]]}', b'{"links": [[0, 99]]}', b'{"links": 3}', b'{"translation": {"de": "a", "en": "b"}}'),
    *(b"word\tB-PER", b"word", b"#", b"1000001 1 1", b"0 0 0", b"<b>a ||| b", b"</b> ||| <", b"a <b>b</i> ||| c d"),
)  # fmt: skip


def sentence(random: Random, longest: int = 8) -> str:
    """Some words, most of them harmless."""
    known = WORDS if random.random() < 0.3 else WORDS[:13]
    return " ".join(random.choice(known) for _ in range(random.randint(1 if random.random() < 0.2 else 3, longest)))


def pair_line(random: Random, format: str) -> bytes:
    """One line that holds a pair, unless its words spoil it."""
    source, target = sentence(random), sentence(random)
    if format == "jsonl":
        record: dict[str, object] = {"source": source, "target": target}
        if random.random() < 0.3:
            record = {"source": source.split(), "target": target.split(), "id": random.randint(0, 9)}
        if random.random() < 0.2:
            record = {"translation": {"de": source, "en": target}}
        if random.random() < 0.2:
            record |= {"links": [[random.randint(0, 3), random.randint(0, 3)]], "spans": [[0, 1, "PER"]]}
        return json.dumps(record, ensure_ascii=random.random() < 0.5).encode("utf-8", "replace")
    separator = "\t" if format == "tsv" else " ||| "
    return f"{source}{separator}{target}".encode().replace(b"\n", b" ")


def links_line(random: Random, format: str, number: int) -> bytes:
    """Links of one sentence, most of them between words that are there."""
    most = random.choice([0, 0, 0, 1, 4])
    links = [(random.randint(0, most), random.randint(0, most)) for _ in range(random.randint(0, 4))]
    if format == "naacl":
        return b"\n".join(f"{number} {i + 1} {j + 1} S".encode() for i, j in links or [(0, 0)])
    if format == "jsonl":
        return json.dumps({"links": [list(link) for link in links]}).encode()
    mark = "p" if format == "talp" and random.random() < 0.3 else "-"
    score = ":0.5" if format == "pharaoh-scores" else ""
    return " ".join(f"{i}{mark}{j}{score}" for i, j in links).encode()


def columns_line(random: Random) -> bytes:
    """One sentence in CoNLL columns, with the blank line after it."""
    words = sentence(random).split()
    return "".join(f"{word}\t{random.choice(['O', 'B-PER', 'I-PER', 'S-X'])}\n" for word in words).encode()


def spans_line(random: Random) -> bytes:
    """A record with spans, as `weft project --from jsonl` reads it."""
    record = {
        "source": sentence(random),
        "target": sentence(random),
        "spans": [[random.randint(-1, 4), random.randint(0, 9), random.choice(["PER", "", 3])]],
        "source_spans": [{"start": 0, "end": random.randint(0, 5), "label": "X"}],
    }
    return json.dumps(record).encode()


def markup_line(random: Random) -> bytes:
    """A sentence with tags, and its translation."""
    words = sentence(random).split()
    words.insert(random.randint(0, len(words)), "<b>")
    words.insert(random.randint(0, len(words)), "</b>")
    return f"{' '.join(words)} ||| {sentence(random)}".encode()


def spoiled(random: Random, lines: list[bytes]) -> bytes:
    """Lines as a file: some bad ones among them, ends of any kind, perhaps compressed, perhaps cut or changed."""
    for _ in range(random.choice([0, 0, 0, 1, 2, 5])):
        lines.insert(random.randint(0, len(lines)), random.choice(BAD_LINES))
    if random.random() < 0.05:
        lines = [random.choice(BAD_LINES) for _ in lines]
    data = random.choice([b"\n", b"\n", b"\n", b"\r\n"]).join(lines)
    data += random.choice([b"\n", b"\n", b"\n", b"", b"\n\n"]) if lines else b""
    chance = random.random()
    if chance < 0.03:
        return b"\xef\xbb\xbf" + data
    if chance < 0.06:
        return changed(random, data)
    if chance < 0.12:
        packed = gzip.compress(data, mtime=0) if random.random() < 0.5 else lzma.compress(data)
        return changed(random, packed) if random.random() < 0.4 else packed
    return b"" if chance < 0.14 else data


def changed(random: Random, data: bytes) -> bytes:
    """The same with a few bytes changed, or cut off."""
    mutable = bytearray(data)
    for _ in range(random.randint(1, 4)):
        if mutable:
            mutable[random.randrange(len(mutable))] = random.randrange(256)
    return bytes(mutable[: random.randint(0, len(mutable))] if random.random() < 0.3 else mutable)


ODD_VALUES = (
    *(None, True, False, 0, 1, -1, 3, 1.5, -0.5, 10**20, 1e308, float("nan"), float("inf"), "", "x", "nan", "1"),
    *([], [1], ["x"], [[]], {}, {"x": 1}, "x" * 5000, "\u0000", "../../etc/passwd"),
)  # fmt: skip


def with_one_field_changed(random: Random, record: object) -> object:
    """A JSON value with one of its values replaced, one name changed, or one field left out."""
    copy = json.loads(json.dumps(record))
    place, key = random.choice(list(_places(copy)))
    way = random.random()
    if way < 0.75:
        place[key] = random.choice(ODD_VALUES)
    elif isinstance(place, dict) and way < 0.85:
        place[f"{key}s"] = place.pop(key)
    else:
        del place[key]
    return copy


def _places(value: object, depth: int = 0):
    """Every container with one of its keys; of a long list only the first few."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for number, (key, inner) in enumerate(list(items)):
        if number < 40:
            yield value, key
            if depth < 4:
                yield from _places(inner, depth + 1)


def as_toml(record: dict[str, object]) -> str:
    """A configuration as TOML; values that TOML does not have are written as they come."""
    plain = {name: value for name, value in record.items() if not isinstance(value, dict)}
    tables = {name: value for name, value in record.items() if isinstance(value, dict)}
    lines = [f"{name} = {_toml_value(value)}" for name, value in plain.items()]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {_toml_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml_value(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value) if isinstance(value, str) else "2020-01-01" if value is None else str(value)
