"""The JavaScript package: its own tests, and words, subwords, links and probabilities as in Python."""

from __future__ import annotations

import json
import random
import unicodedata
from pathlib import Path

import pytest

from weft import Aligner
from weft.annotation.importing import read_files
from weft.encoding.native.encoder import NativeEncoder
from weft.models.known import built_in_models
from weft.text import headings
from weft.text import sentences as sentence_ends
from weft.text.segment import segment

FOLDER = Path(__file__).parents[2]
EXAMPLES = FOLDER / "examples" / "pairs.txt"

READ = """
const { readFileSync } = await import("node:fs");
const asked = JSON.parse(readFileSync(0, "utf8"));
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
"""


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner.from_pretrained()


def test_own_tests_pass(node):
    assert "# fail 0" in node("--test", "--test-reporter", "tap")


def _odd_words() -> list[str]:
    """Words of all kinds: those of the examples in several forms, and strings of random characters."""
    words = EXAMPLES.read_text(encoding="utf-8").split()
    kinds = [*words, *(unicodedata.normalize("NFD", word) for word in words), *map(str.upper, words)]
    chance = random.Random(1)
    blocks = [(0x21, 0x7E), (0xA0, 0x24F), (0x370, 0x52F), (0x5D0, 0x6FF), (0x900, 0xDFF), (0xE01, 0xE4E)]
    blocks += [
        (0x2000, 0x206F),
        (0x3041, 0x30FF),
        (0x4E00, 0x9FFF),
        (0xAC00, 0xD7A3),
        (0xFF00, 0xFFEF),
        (0x1F300, 0x1F6FF),
    ]
    for _ in range(3000):
        block = chance.choice(blocks)
        made = "".join(chr(chance.randint(*block)) for _ in range(chance.randint(1, 8)))
        kinds.append(made)
    return [word for word in kinds if all(unicodedata.category(character) != "Cn" for character in word)]


def test_subwords_are_those_of_the_tokenizers_library(node, aligner):
    words = [*_odd_words(), "[SEP]", "a[CLS]b", "x" * 61, "\u3000", "\u00a0a"]
    program = (
        READ
        + """
    const { WordPiece } = await import("./src/wordpiece.js");
    const tokenizer = new WordPiece(json(asked.tokenizer));
    console.log(JSON.stringify(asked.words.map((word) => tokenizer.cut(word))));
    """
    )
    tokenizer = str(built_in_models()["weft-mini"] / "tokenizer.json")
    found = json.loads(node("--input-type=module", "-e", program, stdin={"words": words, "tokenizer": tokenizer}))
    expected = aligner.encoder.tokenizer.split([(word,) for word in words])
    different = [word for word, ids, own in zip(words, found, expected, strict=True) if ids != own.ids.tolist()]
    assert different == []


TEXTS = [
    ("Ieri am citit o carte foarte bună.", None),
    ("She said: 'It isn't John's, it's mine (I'd bet $3.50).'", None),
    ("L'homme d'aujourd'hui n'a qu'à s'en aller, c'est-à-dire…", "fr"),
    ("Dell'altro mondo; un'idea.", "it"),
    ("à Penmarc'h, PLOUC’HINEC, c'ho", "fr"),
    ("Emañ ar c'hazh, C’HOAR; c'est d'hor", None),
    ("п'ять o'zbek don't U.S.A. e.g. 10:30 1,000.5 3/4 a_b", None),
    ("mail a.b@c.de or see https://weft.example/x?y=(1), www.a.b.", None),
    ("Ünïcödé — “quoted” «guillemets» 👩‍👩‍👧 🇩🇪🇫🇷 👍🏽!!!", "de"),
    ("नमस्ते दुनिया। שלום צה\"ל עולם مرحبا بالعالم", None),
    ("한국어 문장입니다, 그렇죠?", None),
    ("Aktien\u200bgesellschaft, \u200bпри\u200b\u200bвет\u200b. ꦲꦏ\u200bꦱꦫ\u200babc ꦲ\u200b\u200bꦱ", None),
    ("it's", "en"),
    ("rock'n'roll l'eau", "sv"),
]  # fmt: skip


def test_text_is_split_as_in_python(node):
    program = (
        READ
        + """
    const { segment } = await import("./src/segment.js");
    console.log(JSON.stringify(asked.map(([text, language]) => segment(text, language ?? ""))));
    """
    )
    found = json.loads(node("--input-type=module", "-e", program, stdin=TEXTS))
    assert found == [list(segment(text, language).words) for text, language in TEXTS]


ALIGN = (
    READ
    + """
const { Aligner } = await import("./src/index.js");
const aligner = await Aligner.load({
  model: {
    graph: readFileSync(`${asked.folder}/model.onnx`),
    tokenizer: json(`${asked.folder}/tokenizer.json`),
    settings: json(`${asked.folder}/weft.json`),
  },
});
const found = [];
for (const [source, target] of asked.pairs) found.push(await aligner.align(source, target, asked.options));
console.log(JSON.stringify(found));
"""
)


@pytest.mark.parametrize("model", sorted(built_in_models()))
@pytest.mark.parametrize("options", [{}, {"method": "softmax", "null": "off"}])
def test_links_and_probabilities_are_those_of_python(node, model, options):
    aligner = Aligner.from_pretrained(model, **options)
    if not isinstance(aligner.encoder, NativeEncoder):
        pytest.skip("weft is installed without the encoder in C, and onnxruntime rounds otherwise")
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines()
    pairs = [tuple(line.split(" ||| ")) for line in lines]
    long = tuple(" ".join(side) for side in zip(*pairs, strict=True))  # takes several windows
    pairs += [long, ("𓀀 𓀁 𓀂", "that is good"), ("", "nothing")]
    pairs += [("בְּרֵאשִׁית בָּרָא אֱלֹהִים אָדָם", "In the beginning God created man"), ("אַ נײַע שטאָט", "a new city")]
    pairs += [("Ἐν ἀρχῇ ἦν ὁ λόγος · ᾠδὰς πρὸς τὸν θεόν", "In the beginning was the Word"), ("wὸnɔ ŋutὸ", "it was so")]
    pairs += [("הבית\u200f גדול\u200f \u200e .", "The\u00ad house\ufeff is \u200b big ."), ("\u200b", "\u200b")]
    request = {"folder": str(built_in_models()[model]), "pairs": pairs, "options": options}
    found = json.loads(node("--input-type=module", "-e", ALIGN, stdin=request))
    for alignment, own in zip(aligner.align_batch(pairs), found, strict=True):
        links = {link.indices: link.score for link in alignment.links}
        assert {(source, target): share for source, target, share in own["links"]} == pytest.approx(links, abs=2e-4)
        assert own["unknown"] == alignment.unknown
        assert own["score"] == pytest.approx(alignment.score, abs=2e-4)


FILES = {
    "ids.csv": "Nr;Deutsch;Englisch\n1;Der Zug ist da.;The train is here.\n2;ja;yes\n3;gut;good\n",
    "others.csv": "Kunde;Deutsch;Englisch\nM\u00fcller AG;Guten Tag;Hello\nMaier;Bitte warten;Please wait\n",
    "unknown.csv": "Vorgang;Frage;Antwort\n" + "eins zwei;guten Tag;hello\n" * 3,
    "labels.tsv": "Ja\tYes\tTatoeba\n" + "Guten Tag\tGood day\tTatoeba\n" * 3,
    "gap.csv": "1;ja;yes\n2;;\n3;nein;no\n",
    "names.tsv": "de\ten\nDer Zug\tThe train\n\tempty\n",
    "names.csv": "Deutsch,Englisch,Nr\nDer Zug,The train,1\n",
    "own.csv": "source,target,count\nja,yes,2\n",
    "own.tsv": "\nsource\ttarget\nja\tyes\nsource\ttarget\n",
    "bars.tsv": "das Haus\tthe house ||| a house\nja\tyes\nder ||| the\n",
    "named.tsv": "das Haus ||| the house\nja ||| yes\n",
    "plain.tsv": "Der Zug hat Versp\u00e4tung.\tThe train is late today.\nGut, danke.\tFine.\n",
    "split.txt": "Der Zug , der kommt . ||| The train that comes .\nnichts\n|||\nGut. ||| Good .\n",
    "thai.tsv": "\u0e09\u0e31\u0e19\u0e01\u0e34\u0e19\u0e02\u0e49\u0e32\u0e27\tI eat rice\n",
    "quoted.csv": '"a, b",c\n"d ""e""",f\n',
    "listed.jsonl": '{"source": ["a."], "target": ["b."]}\n',
}


def test_files_of_pairs_are_read_as_in_python(node, tmp_path, caplog):
    program = (
        READ
        + """
    const { readFiles } = await import("./src/page/files.js");
    const read = ([name, text]) => readFiles({ files: [{ name, content: Buffer.from(text).toString("base64") }] });
    console.log(JSON.stringify(Object.entries(asked).map(read)));
    """
    )
    found = json.loads(node("--input-type=module", "-e", program, stdin=FILES))
    for (name, text), theirs in zip(FILES.items(), found, strict=True):
        caplog.clear()
        (tmp_path / name).write_text(text, encoding="utf-8")
        ours = read_files([tmp_path / name])
        assert [[pair["source"], pair["target"]] for pair in theirs["pairs"]] == [
            [list(entry.pair.source), list(entry.pair.target)] for entry in ours.pairs
        ], name
        assert [bool(pair["problem"]) for pair in theirs["pairs"]] == [bool(entry.problem) for entry in ours.pairs]
        assert (theirs["unsplit"], [each for each in theirs["listed"] if each]) == (ours.unsplit, ours.listed), name
        said = [message.removeprefix(f"{tmp_path}/") for message in caplog.messages if " read as " in message]
        assert [message.split(" If ")[0] for message in said] == theirs["remarks"], name


ROWS = [
    *(["Deutsch", "Englisch"], ["de-DE", "en_US"], ["zh_Hans", "EN"], ["Source (de)", "Target [en]"], ["id", " TEXT "]),
    *(["Kunde", "source text", "target_text"], ["Nr", "\u4e2d\u6587", "English"], ["sentence1", "sentence2"]),
    *(["Haus", "house"], ["no", "id"], ["source language", "x", "Deutsch"], ["de en", "fr"], ["Text?", "Text"]),
    *(["de"], [], ["Hund", "dog", "noun"], ["ein-s", "zw_ei", "drei"], ["a1", "b", "c"], ["ja", "Ja", "yes"]),
    ["\u00fcber", "over", "prep"],
]  # fmt: skip


def test_names_of_columns_are_known_as_in_python(node):
    program = (
        READ
        + """
    const names = await import("./src/page/headings.js");
    const sets = [names.LANGUAGES, names.CODES, names.SIDES, names.OTHERS].map((set) => [...set].sort());
    const found = asked.map((row) => [names.nameColumns(row), names.mayNameColumns(row)]);
    console.log(JSON.stringify({ sets, found }));
    """
    )
    answer = json.loads(node("--input-type=module", "-e", program, stdin=ROWS))
    ours = (headings.LANGUAGES, headings.CODES, headings.SIDES, headings.OTHERS)
    assert list(map(set, answer["sets"])) == list(map(set, ours))
    assert answer["found"] == [[headings.name_columns(row), headings.may_name_columns(row)] for row in ROWS]


def test_the_reading_page_knows_the_abbreviations_of_python(node):
    program = (
        READ
        + """
    const { ABBREVIATIONS, sentences } = await import("../src/weft/viewing/static/sentences.js");
    console.log(JSON.stringify({ known: [...ABBREVIATIONS], found: asked.map(sentences) }));
    """
    )
    texts = {
        "Mr. Dupont left at 8:30. It is raining.": ["Mr. Dupont left at 8:30.", "It is raining."],
        "Il sig. Lupo dorme. Der 3. Mai war kalt. Z.B. Regen.": [
            "Il sig. Lupo dorme.", "Der 3. Mai war kalt.", "Z.B. Regen.",
        ],
        "\u201cCall Dr. J. R. Who.\u201d He came in 1999. (Cf. p. 312.) Then?": [
            "\u201cCall Dr. J. R. Who.\u201d", "He came in 1999.", "(Cf. p. 312.)", "Then?",
        ],
        "今日は。明日。": ["今日は。", "明日。"],
        "Only Mr.": ["Only Mr."],
    }  # fmt: skip
    answer = json.loads(node("--input-type=module", "-e", program, stdin=list(texts)))
    assert sorted(answer["known"]) == sorted(sentence_ends._ABBREVIATIONS)
    assert answer["found"] == list(texts.values())
