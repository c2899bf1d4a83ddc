from __future__ import annotations

import json
import logging
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import transformers

from models import SENTENCES, make_model
from weft import Aligner, Alignment, Link, SentencePair
from weft.aligner import cut_into_chunks
from weft.encoding.encoder import encode_pairs
from weft.encoding.onnx import OnnxEncoder
from weft.errors import FormatError, SettingError, WeftError
from weft.extraction.calibration import Calibration
from weft.text.pairs import NOTHING
from weft.viewing.serve.remembering import remembering

PAIRS = list(zip(SENTENCES, reversed(SENTENCES), strict=True))


@pytest.fixture(scope="module")
def aligner(tiny_bert):
    return Aligner.from_pretrained(tiny_bert, layer=2, device="cpu")


def test_strings_lists_and_pairs_mean_the_same(aligner):
    expected = aligner.align("das ist ein", "that is a")
    assert expected.links
    assert aligner.align(["das", "ist", "ein"], ("that", "is", "a")) == expected
    assert aligner.align_batch([SentencePair(("das", "ist", "ein"), ("that", "is", "a"))]) == [expected]


def test_a_name_in_place_of_an_encoder_is_answered_with_what_to_call():
    with pytest.raises(SettingError, match=r"Use Aligner\.from_pretrained\('weft-mini'\)"):
        Aligner("weft-mini")


def test_two_lists_are_answered_with_how_to_zip_them(aligner):
    with pytest.raises(SettingError, match=r"make it with zip\(source, target, strict=True\)"):
        aligner.align_batch(["das ist gut"], ["that is good"])


def test_an_aligner_shows_its_model_and_method(aligner, tiny_bert):
    assert repr(aligner) == f"<Aligner: {tiny_bert}, softmax, threshold 0.001>"


def test_order_and_number_are_kept_whatever_the_chunks(aligner):
    alone = [aligner.align(*pair) for pair in PAIRS]
    for chunk_words in (1, 20, 10_000):
        together = list(aligner.stream(PAIRS, chunk_words=chunk_words))
        assert [a.pairs for a in together] == [a.pairs for a in alone]
    assert aligner.align_batch([PAIRS[0], NOTHING, ("", "a b"), ("a", []), PAIRS[1]])[1:4] == [Alignment(score=0.0)] * 3


def test_threads_may_share_an_aligner(tiny_onnx):
    """They learn the same new words at the same time, and run the same encoder."""
    words = [f"w{number}" for number in range(500)]
    jobs = [[(" ".join(words[k : k + 9]), " ".join(words[k + 3 : k + 15])) for k in range(n, 480, 8)] for n in range(8)]
    expected = list(map(Aligner.from_pretrained(tiny_onnx).align_batch, jobs))
    shared = Aligner.from_pretrained(tiny_onnx)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(shared.align_batch, jobs)) == expected


def test_half_a_surrogate_pair_is_named_with_its_row(aligner):
    stream = aligner.stream([("das", "that"), ("das \ud83d", "that")], chunk_words=1)
    with pytest.raises(SettingError, match=r"row 1 of `pairs`, source: .* half of a surrogate pair"):
        list(stream)
    with pytest.raises(SettingError, match=r"sentence 0 of `target`: .* half of a surrogate pair"):
        aligner.align_texts([("das",)], [("\ud83d",)])


def test_streams_are_read_only_as_far_as_needed(aligner):
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield ("das ist gut", "that is good")

    assert next(aligner.stream(endless(), chunk_words=70)).links
    assert read == 10


def test_equal_sentences_are_encoded_once(aligner):
    pairs = [SentencePair(("das",), ("that",)), SentencePair(("das",), ("das",))]
    encoded, numbers = encode_pairs(aligner.encoder, pairs)
    assert numbers.tolist() == [[0, 1], [0, 0]]
    assert len(encoded.lengths) == 2


def test_the_pair_score_is_mean_probability_times_coverage(aligner):
    alignment = aligner.align("das ist ein kleines Haus", "that house")
    mean = np.mean([link.score for link in alignment.links])
    covered = len({link.source for link in alignment.links}) + len({link.target for link in alignment.links})
    assert alignment.score == pytest.approx(mean * covered / 7, abs=1e-6)
    assert aligner.align("das", "that", scores="none").score is None


def test_blank_words_are_similar_to_nothing(aligner):
    matrix = aligner.similarity(["", "kleines", " ", "Haus"], ["small", "\n", "house"])
    assert np.array_equal(matrix[[1, 3]][:, [0, 2]], aligner.similarity("kleines Haus", "small house"))
    assert not matrix[[0, 2]].any()
    assert not matrix[:, 1].any()
    assert aligner.similarity(["", " "], ["small"]).tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("model", ["weft-mini", "weft-nano"])
@pytest.mark.parametrize("mark", ["\u00ad", "\u200b", "\u200e", "\u200f", "\u2060", "\u2069", "\ufeff"])
def test_characters_that_cannot_be_seen_change_no_link_of_the_built_in_models(model, mark):
    plain = (("Das", "Wetter", "ist", "schön", "."), ("The", "weather", "is", "beautiful", "."))
    marked = [tuple(f"{mark}{word[:2]}{mark}{word[2:]}{mark}" for word in side) for side in plain]
    aligner = Aligner.from_pretrained(model)
    found, expected = aligner.align_batch([marked, plain])
    assert found.links == expected.links
    assert (found.score, found.unknown) == (expected.score, 0)
    assert found.pair == tuple(marked)
    alone = aligner.align(["Das", mark, *plain[0][1:]], [mark, *plain[1]])
    moved = [(link.source + (link.source > 0), link.target + 1) for link in expected]
    assert [link.indices for link in alone] == moved
    assert aligner.align([mark], [mark]) == Alignment(score=0.0)


@pytest.mark.parametrize("model", ["weft-mini", "weft-nano"])
@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת", "בראשית ברא אלהים את"),
        ("וַיֹּ֥אמֶר שֶׁקֶר שָׂרָה", "ויאמר שקר שרה"),
        ("Ἐν ἀρχῇ ἦν ὁ λόγος", "Εν αρχή ήν ο λόγος"),
        ("καὶ τὸν ᾅδην ῥίζα", "και τον άδην ρίζα"),
        ("τοὺς πραΰνω ῥοῒ", "τους πραΰνω ροϊ"),
    ],
)
def test_points_of_hebrew_and_polytonic_accents_are_passed_over(model, marked, plain):
    tokenizer = Aligner.from_pretrained(model).encoder.tokenize.tokenizer
    for form in ("NFC", "NFD"):
        ours, bare = (tokenizer.split([tuple(unicodedata.normalize(form, text).split())]) for text in (marked, plain))
        assert ours.ids.tolist() == bare.ids.tolist()
        assert ours.words.tolist() == bare.words.tolist()


@pytest.mark.parametrize("word", ["נײַע", "נייַע", "שטאָט", "פֿאַר", "wὸnɔ", "ŋutὸ", "ò", "άλλο", "πραΰνω", "é", "ий"])
def test_marks_that_belong_to_letters_stay(word):
    tokenizer = Aligner.from_pretrained().encoder.tokenize.tokenizer
    decomposed = unicodedata.normalize("NFD", word)
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    with_marks, without, apart = tokenizer.split([(word,), (bare,), (decomposed,)])
    assert with_marks.ids.tolist() == apart.ids.tolist()
    assert with_marks.ids.tolist() != without.ids.tolist()


def test_joiners_still_tell_words_apart():
    tokenizer = Aligner.from_pretrained().encoder.tokenizer
    with_joiner, without = tokenizer.split([("می\u200cروم",), ("میروم",)])
    assert with_joiner.ids.tolist() != without.ids.tolist()


def test_blank_words_of_two_texts_have_no_links():
    aligner = Aligner.from_pretrained()
    texts = [("das", " ", "ist", "gut", "."), ("wir", "gehen", "")], [("", "that", "is", "good", "."), ("we", "go")]
    plain = [[tuple(filter(str.strip, sentence)) for sentence in text] for text in texts]
    found, expected = aligner.align_texts(*texts), aligner.align_texts(*plain)
    assert [(source, target) for source, target, _ in found] == [(source, target) for source, target, _ in expected]
    assert str(found[0][2]) == "0-1 2-2 3-3 4-4"
    assert [links.score for _, _, links in found] == [links.score for _, _, links in expected]


def test_similarity_of_words_is_that_of_their_closest_subwords(aligner):
    source, target = ["kleines", "schläft", "."], ["small", "sleeping"]
    matrix = aligner.similarity(source, target)
    encoded, [(first, second)] = encode_pairs(aligner.encoder, [SentencePair(tuple(source), tuple(target))])
    sides = [slice(encoded.starts[k], encoded.starts[k + 1]) for k in (first, second)]
    states = [encoded.states[side].numpy() for side in sides]
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in states]
    cosine = unit[0] @ unit[1].T
    words = [encoded.words[side] for side in sides]
    expected = [[cosine[np.ix_(words[0] == i, words[1] == j)].max() for j in range(2)] for i in range(3)]
    np.testing.assert_allclose(matrix, expected, atol=1e-5)
    assert aligner.similarity("", "a b").shape == (0, 2)
    with pytest.raises(SettingError, match="`kind` must be cosine or dot"):
        aligner.similarity("a", "b", kind="euclidean")


def test_calibration_changes_scores_and_not_links(tiny_bert):
    plain = Aligner.from_pretrained(tiny_bert, layer=2)
    curve = Calibration((0.0, 1.0), (0.25, 0.75))
    calibrated = Aligner(plain.encoder, plain.settings.updated(calibration=curve))
    raw, new = plain.align(*PAIRS[0]), calibrated.align(*PAIRS[0])
    assert raw.pairs == new.pairs
    for before, after in zip(raw.links, new.links, strict=True):
        assert after.score == pytest.approx(0.25 + before.score / 2, abs=2e-6)
    assert calibrated.align(*PAIRS[0], scores="raw") == raw


def test_a_saved_model_comes_back_the_same_and_loads_in_transformers(tiny_bert, tmp_path):
    first = Aligner.from_pretrained(tiny_bert, layer=2, method="entmax", threshold=0.05)
    first.save_pretrained(tmp_path / "saved")
    again = Aligner.from_pretrained(tmp_path / "saved")
    assert again.settings == first.settings
    assert again.align_batch(PAIRS) == first.align_batch(PAIRS)
    plain = transformers.AutoModel.from_pretrained(tmp_path / "saved")
    assert plain.config.num_hidden_layers == 3
    assert json.loads((tmp_path / "saved" / "weft.json").read_text())["layer"] == 2


@pytest.mark.parametrize("architecture", ["t5", "nllb", "mpnet"])
def test_saving_changes_no_link_of_any_architecture(tmp_path, architecture):
    first = Aligner.from_pretrained(make_model(tmp_path / "first", architecture), layer=2)
    first.save_pretrained(tmp_path / "second")
    assert Aligner.from_pretrained(tmp_path / "second").align_batch(PAIRS) == first.align_batch(PAIRS)


def test_an_onnx_folder_can_be_saved_with_other_settings(tiny_onnx, tmp_path):
    first = Aligner.from_pretrained(tiny_onnx, method="itermax")
    first.save_pretrained(tmp_path / "copy")
    again = Aligner.from_pretrained(tmp_path / "copy")
    assert again.settings.method == "itermax"
    assert again.align_batch(PAIRS) == first.align_batch(PAIRS)
    assert json.loads((tmp_path / "copy" / "weft.json").read_text())["max_length"] == 64


def test_the_onnx_folder_aligns_alike(aligner, tiny_onnx):
    light = Aligner.from_pretrained(tiny_onnx)
    assert isinstance(light.encoder, OnnxEncoder)
    assert [a.pairs for a in light.align_batch(PAIRS)] == [a.pairs for a in aligner.align_batch(PAIRS)]
    with pytest.raises(SettingError, match="was exported at layer 2"):
        Aligner.from_pretrained(tiny_onnx, layer=1)


def test_an_unknown_encoder_is_cut_two_thirds_up_and_says_so(tiny_bert, caplog):
    with caplog.at_level(logging.WARNING, "weft"):
        assert Aligner.from_pretrained(tiny_bert).encoder.layer == 2
    assert "layer 2 of 3 is used. 'weft tune'" in caplog.text


@pytest.mark.parametrize(
    ("model_type", "vocabulary", "n_layers", "layer"),
    [
        ("bert", 119547, 12, 8),
        ("bert", 501153, 12, 6),
        ("xlm", 95000, 12, 5),
        ("xlm", 200000, 16, 8),
        ("xlm-roberta", 250002, 12, 8),
    ],
)
def test_known_encoders_have_their_layers(model_type, vocabulary, n_layers, layer):
    from weft.models.known import known_encoder

    assert known_encoder(model_type, vocabulary, n_layers).layer == layer
    assert known_encoder(model_type, vocabulary + 1, n_layers) is None


OBVIOUS = [
    ("das ist gut", "that is good", "0-0 1-1 2-2"),
    ("Barack Obama besuchte 2015 Berlin .", "In 2015 Berlin saw Barack Obama .", "0-4 1-5 3-1 4-2 5-6"),
    ("la maison est petite", "the house is small", "0-0 1-1 2-2 3-3"),
    ("la casa blanca", "the white house", "0-0 1-2 2-1"),
    ("дом большой", "the house is big", "0-1 1-3"),
    ("他 明天 去 北京 。", "He goes to Beijing tomorrow .", "0-0 1-4 2-1 3-3 4-5"),
    ("私 は 学生 です 。", "I am a student .", "0-0 2-3 4-4"),
]


@pytest.mark.parametrize(("source", "target", "links"), OBVIOUS)
def test_the_built_in_model_knows_languages(source, target, links):
    alignment = Aligner.from_pretrained().align(source, target)
    assert {tuple(map(int, link.split("-"))) for link in links.split()} <= alignment.pairs
    assert len(alignment.pairs) <= len(source.split()) + 2
    assert all(0 < link.score <= 1 for link in alignment.links)


def test_the_built_in_model_can_be_saved(tmp_path):
    pairs = [(source, target) for source, target, _ in OBVIOUS]
    first = Aligner.from_pretrained()
    first.save_pretrained(tmp_path / "copy")
    again = Aligner.from_pretrained(tmp_path / "copy")
    assert again.encoder.source == str(tmp_path / "copy")
    assert again.settings == first.settings
    assert again.align_batch(pairs) == first.align_batch(pairs)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "expected a JSON object"),
        ("[]", "expected a JSON object"),
        ('{"method": "x"}', "`method`"),
        ('{"threshold": "x"}', "`threshold` must be"),
        ('{"layer": "seven"}', "`layer` must be a whole number"),
        ('{"calibration": 5}', "`calibration` must hold"),
        ('{"calibration": {"scores": [], "probabilities": []}}', "`calibration` must hold"),
    ],
)
def test_a_broken_settings_file_is_named(tmp_path, content, message):
    make_model(tmp_path / "m")
    (tmp_path / "m" / "weft.json").write_text(content)
    with pytest.raises((FormatError, SettingError), match=message):
        Aligner.from_pretrained(tmp_path / "m")


def test_nothing_can_be_saved_of_an_encoder_without_files(aligner, tmp_path, monkeypatch):
    remembering(aligner).save_pretrained(tmp_path / "remembered")
    assert str(Aligner.from_pretrained(tmp_path / "remembered").align("das", "that")) == "0-0"
    monkeypatch.setattr(aligner.encoder, "source", None)
    with pytest.raises(WeftError, match="Encoder has no model that could be saved"):
        aligner.save_pretrained(tmp_path / "nothing")


def test_links_are_plain_numbers(aligner):
    [link] = aligner.align("das", "that").links
    assert link == Link(0, 0, 1.0)
    assert [type(part) for part in link] == [int, int, float, bool]


def test_text_without_blanks_is_chunked_by_its_characters():
    pairs = [SentencePair(("漢" * 400 + str(number),), ("字" * 400,)) for number in range(10)]
    chunks = list(cut_into_chunks(pairs, 600, lambda pair: pair))
    assert [pair for chunk in chunks for pair in chunk] == pairs
    assert max(map(len, chunks)) <= 3


@pytest.mark.parametrize("broken", ["model.safetensors", "tokenizer.json"])
def test_damaged_files_are_one_sentence(tmp_path, broken):
    folder = make_model(tmp_path / "m")
    (folder / broken).write_bytes((folder / broken).read_bytes()[:100])
    with pytest.raises(WeftError, match=r"cannot load the (weights|tokenizer)"):
        Aligner.from_pretrained(folder, layer=1)


def test_a_model_without_its_tokenizer_is_refused(tmp_path):
    folder = make_model(tmp_path / "m")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    with pytest.raises(WeftError, match="tokenizer"):
        Aligner.from_pretrained(folder, layer=1)


def test_a_damaged_onnx_file_is_one_sentence(tmp_path, tiny_onnx):
    (tmp_path / "model.onnx").write_bytes(b"rubbish")
    (tmp_path / "tokenizer.json").write_bytes((tiny_onnx / "tokenizer.json").read_bytes())
    with pytest.raises(WeftError, match="cannot load the model in"):
        Aligner.from_pretrained(tmp_path)


def test_alignments_know_their_words():
    found = Aligner.from_pretrained().align("das ist gut", ["that", "is", "good"])
    assert found.word_pairs == (("das", "that"), ("ist", "is"), ("gut", "good"))
    assert found.swapped().word_pairs == (("that", "das"), ("is", "ist"), ("good", "gut"))


def test_raw_text_is_cut_into_words():
    aligner = Aligner.from_pretrained()
    found = aligner.align("L'homme dort.", "The man sleeps.", raw=True, source_language="fr", target_language="en")
    assert found.pair == SentencePair(("L'", "homme", "dort", "."), ("The", "man", "sleeps", "."))
    assert ("homme", "man") in found.word_pairs
    assert aligner.align_batch([("L'homme dort.", "The man sleeps.")], raw=True)[0].pair == found.pair
    with pytest.raises(SettingError, match="`source_language` and `target_language` need `raw`"):
        aligner.align("a", "b", source_language="fr")


@pytest.mark.parametrize("row", [None, {"source": "a", "target": "b"}, ("a", float("nan")), "a b"])
def test_rows_that_hold_no_pair_are_named(row):
    with pytest.raises(SettingError, match="row 1 of `pairs`"):
        Aligner.from_pretrained().align_batch([("a", "b"), row])


UNREAD = "𐀀𐀁 𐀂𐀃 𐀄𐀅"


def test_links_of_words_that_the_model_cannot_read_are_doubted():
    aligner = Aligner.from_pretrained()
    assert {"de", "en"} <= set(aligner.languages)
    doubted = aligner.align(f"{UNREAD} ist gut", "𐀀𐀁 is good")
    assert doubted.unknown == 4
    known = aligner.align("das ist gut", "that is good")
    assert known.unknown == 0
    assert max(link.score for link in doubted) <= 0.5 < min(link.score for link in known)
    assert doubted.score <= 0.5
    # A few unknown words are no reason to doubt a line.
    assert aligner.align("das 𐀀𐀁 ist gut", "that 𐀀𐀁 is good").unknown == 0
    # Nobody has read a short source, however long the translation is.
    hidden = aligner.align("𐀀𐀁 𐀂𐀃 .", "I would like to have some water , please .")
    assert hidden.unknown == 2
    assert max((link.score for link in hidden), default=0) < 0.4
    raw = aligner.align(f"{UNREAD} ist gut", "𐀀𐀁 is good", scores="raw")
    assert (raw.unknown, raw.pairs) == (4, doubted.pairs)
    assert max(link.score for link in raw) > 0.5


def test_what_is_unknown_counts_for_each_line_whatever_stands_beside_it():
    aligner = Aligner.from_pretrained()
    pairs = [("das ist gut", "that is good"), (UNREAD, UNREAD), ("", "a"), (UNREAD, "that is good"), (UNREAD, UNREAD)]
    assert [found.unknown for found in aligner.align_batch(pairs)] == [0, 6, 0, 3, 6]
    assert all(link.score == 0 for link in aligner.align(UNREAD, UNREAD))
