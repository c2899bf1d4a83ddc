"""Words tile the text whatever it holds, and come out as a linguist would split them."""

from __future__ import annotations

import pickle
import re
import sys
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import MissingExtraError, install_command
from weft.text import segment
from weft.text.segment import Segmented, Segmenter, segmenter_for

EXAMPLES = settings.default.max_examples
LIBRARIES = {"ja": ("sudachipy", "sudachidict_core"), "zh": ("rjieba",), "ko": ("kiwipiepy",), "th": ("pythainlp",)}
LOADERS = {"ja": segment._japanese, "zh": segment._chinese, "ko": segment._korean, "th": segment._thai}

# Plain st.text() seldom puts two interesting characters side by side.
AWKWARD = (
    " \t\r\n\x00\x1c\x85\xa0\u2028\u3000\ufeff\u200b\u200c\u200d\u200f\xad\u0301\u094d\u0e33\u0e31\u3099\ufe0f\u20e3"
    "'’\".,:;/-–_·@#()[]|…abcdQuLlsSé0159٣²½ßﷺ㍿①ʼ«»"
    "東京行了𠮷々〇ー日本語はがカｶﾞ。、・（）！ภาษาไทยๆฯ๑กำ한국어를갔다ㅋ\u1100\u1161\u11abसरकारمیkខ"
    "😀👍🏽👩❤🇩🇪🏴\U000e0067\U000e007f"
)
texts = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=60),
    st.text(st.sampled_from(AWKWARD), max_size=60),
    st.lists(
        st.sampled_from(
            ["http://", "www.", "a@b.c", "l'", "qu’", "'s", "U.S.", "1,0", "갔다", "です", "กำ", "\u200d", " "]
        ),
        max_size=20,
    ).map("".join),
)

# Long rows of these make a careless pattern search in quadratic time.
UNITS = [
    *("a", "a.", "a.b.c@", "a@", "a-", "a'", "l'", "http://", "www.", "(http://!", ".,", "1,", "-", 'צ"', "U.S"),
    *("\u0301", "a\u0301", " \u0301", "😀\u200d", "\u200d", "a\u200b", "🇩", "漢a", "한1"),
]


def needs(language: str) -> None:
    for module in LIBRARIES.get(language, ()):
        pytest.importorskip(module, reason=f"the extra {language} is not installed")


def words(text: str, language: str | None = None) -> list[str]:
    segmented = segmenter_for(language)(text)
    assert_tiles(text, segmented)
    return list(segmented.words)


def cpu_seconds(segment: Segmenter, text: str) -> float:
    """Time on the processor, which other work on the machine does not change much."""
    begun = time.process_time()
    segment(text)
    return time.process_time() - begun


def assert_tiles(text: str, segmented: Segmented) -> None:
    assert len(segmented.words) == len(segmented.offsets)
    covered, last_end = set(), 0
    for word, (start, end) in zip(segmented.words, segmented.offsets, strict=True):
        assert last_end <= start < end
        assert text[start:end] == word
        assert not any(character.isspace() for character in word)
        covered.update(range(start, end))
        last_end = end
    assert covered == {place for place, character in enumerate(text) if not character.isspace()}


class TestTiling:
    @given(text=texts, language=st.sampled_from(["de", "en", "fr", "xx"]))
    @settings(max_examples=6 * EXAMPLES)
    def test_rule(self, text, language):
        assert_tiles(text, segmenter_for(language)(text))

    @pytest.mark.parametrize("language", LIBRARIES)
    def test_libraries(self, language):
        needs(language)
        segmenter = segmenter_for(language)

        @given(text=texts)
        @settings(max_examples=3 * EXAMPLES)
        def check(text):
            assert_tiles(text, segmenter(text))

        check()

    @given(text=texts)
    @settings(max_examples=2 * EXAMPLES)
    def test_unknown_language(self, text):
        for language in ("ja", "zh", "th"):
            needs(language)
        assert_tiles(text, segmenter_for(None)(text))

    @pytest.mark.parametrize("language", [*LIBRARIES, "en", None])
    @pytest.mark.parametrize("text", ["", " ", "\n\t\u3000\xa0\x1c"])
    def test_nothing_gives_no_words(self, text, language):
        needs(language or "en")
        assert segmenter_for(language)(text) == Segmented((), ())

    @pytest.mark.slow
    def test_every_character_alone_and_after_a_letter(self):
        segmenter = segmenter_for("en")
        characters = [chr(code) for code in (*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200))]
        for text in ("".join(characters), " ".join(characters), "".join(f"a{character} " for character in characters)):
            assert_tiles(text, segmenter(text))

    def test_no_mark_is_cut_off(self):
        marks = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) in ("Mn", "Mc", "Me")]
        text = " ".join(f"a{mark}b" for mark in marks)
        assert [word for word in words(text, "en") if len(word) != 3] == []


class TestRule:
    @pytest.mark.parametrize(
        ("language", "text", "expected"),
        [
            ("en", "Hello, world!", "Hello , world !"),
            ("en", "It's John’s, isn't it? We'd've gone.", "It 's John ’s , isn't it ? We 'd 've gone ."),
            ("en", "the dogs' 'quoted' O'Brien, rock'n'roll", "the dogs ' ' quoted ' O'Brien , rock'n'roll"),
            ("en", "a well-known state-of-the-art tool", "a well-known state-of-the-art tool"),
            ("en", "at 12:30 pay $1,000.50, i.e. 3.5%.", "at 12:30 pay $ 1,000.50 , i.e. 3.5 % ."),
            ("en", "the U.S. at 5 p.m. -- and... well?!", "the U.S. at 5 p.m. -- and ... well ? !"),
            ("en", "See http://a.org/b?c=d#e. (www.x.com)", "See http://a.org/b?c=d#e . ( www.x.com )"),
            ("en", "mail first.last+tag@mail.example.org, now", "mail first.last+tag@mail.example.org , now"),
            ("en", "and/or snake_case _this_ @home #1", "and / or snake_case _ this _ @ home # 1"),
            ("fr", "L'homme d’aujourd'hui n'a qu'une idée", "L' homme d’ aujourd'hui n' a qu' une idée"),
            ("fr", "c'est-à-dire jusqu'ici 1'000", "c' est-à-dire jusqu' ici 1'000"),
            ("fr", "à Penmarc'h, PLOUC’HINEC", "à Penmarc'h , PLOUC’HINEC"),
            ("it", "dell'arte c'è un’altra", "dell' arte c' è un’ altra"),
            ("it", "c'ho", "c' ho"),
            ("ca", "l'home d'una col·lecció", "l' home d' una col·lecció"),
            ("de", "Die 3,5 Mio. am 12.05.2021 – geht's?", "Die 3,5 Mio . am 12.05.2021 – geht's ?"),
            ("nl", "foto's m'n zo'n", "foto's m'n zo'n"),
            ("uk", "п'ять об’єктів", "п'ять об’єктів"),
            ("hi", "सरकार का प्रस्ताव है।", "सरकार का प्रस्ताव है ।"),
            ("fa", "می‌خواهم کتاب‌ها را", "می‌خواهم کتاب‌ها را"),
            ("ar", "الْعَرَبِيَّةُ، نعم؟", "الْعَرَبِيَّةُ ، نعم ؟"),
            ("ar", "١٬٢٣٤٫٥", "١٬٢٣٤٫٥"),
            ("he", 'צה"ל "שלום" ג\'ירפה', 'צה"ל " שלום " ג\'ירפה'),
            ("es", "¿Qué? ¡No!", "¿ Qué ? ¡ No !"),
        ],
    )
    def test_languages(self, language, text, expected):
        assert words(text, language) == expected.split(" ")

    def test_decomposed_accents_split_like_composed_ones(self):
        text = "L’été à Noël, l'œuvre d'Ève coûte 5 €; Đà Nẵng, Việt Nam. Zoé's café."
        for language in ("fr", "vi", "en", None):
            composed = words(unicodedata.normalize("NFC", text), language)
            decomposed = words(unicodedata.normalize("NFD", text), language)
            assert [unicodedata.normalize("NFC", word) for word in decomposed] == composed

    @pytest.mark.parametrize(
        "emoji", ["👍🏽", "👩\u200d👩\u200d👧\u200d👦", "❤️\u200d🔥", "🇩🇪", "1️⃣", "#️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🧑🏿\u200d🚀", "☺️", "😀😀"]
    )
    def test_emoji_stay_whole(self, emoji):
        assert words(f"so {emoji}, 🇫🇷{emoji} ok", "en") == ["so", emoji, ",", "🇫🇷", emoji, "ok"]

    def test_invisible_characters_make_no_words_of_their_own(self):
        assert words("\ufeff\u202bשלום\u202c co\xadop", "he") == ["\ufeff\u202bשלום\u202c", "co\xadop"]

    def test_zero_width_space_ends_a_word(self):
        assert words("ខ្ញុំ\u200bស្រឡាញ់\u200bភាសា", "km") == ["ខ្ញុំ\u200b", "ស្រឡាញ់\u200b", "ភាសា"]
        assert words("กา\u200babc\u200bกา", "lo") == ["กา\u200b", "abc\u200b", "กา"]

    @pytest.mark.parametrize("word", ["Aktien\u200bgesellschaft", "при\u200bвет", "של\u200b\u200bום", "كتا\u200bب"])
    def test_zero_width_space_ends_no_word_of_a_script_with_blanks(self, word):
        assert words(f"{word}, {word}\u200b {word}\u200b.", None) == [word, ",", f"{word}\u200b", f"{word}\u200b", "."]
        assert words(f"กา\u200b{word}\u200bกา", "lo") == ["กา\u200b", f"{word}\u200b", "กา"]

    def test_zero_width_space_ends_a_word_of_other_scripts_without_blanks(self):
        assert words("ꦲꦏ\u200bꦱꦫ\u200babc", None) == ["ꦲꦏ\u200b", "ꦱꦫ\u200b", "abc"]

    def test_any_whitespace_separates(self):
        assert words("a\xa0b\u3000c\u2028d\x1ce\r\nf\x85g", "en") == list("abcdefg")

    @pytest.mark.parametrize("language", ["fr", "en"])
    @pytest.mark.parametrize("unit", UNITS)
    def test_time_is_linear(self, unit, language):
        segment = segmenter_for(language)
        text = unit * (40_000 // len(unit))
        assert_tiles(text, segment(text))
        quarter, whole = (min(cpu_seconds(segment, part) for _ in range(2)) for part in (text[:10_000], text))
        # Four times the text takes four times as long; quadratic behaviour would take sixteen times.
        assert whole < 9 * quarter + 0.02

    def test_segmenter_travels_to_other_processes(self):
        segmenter = pickle.loads(pickle.dumps(segmenter_for("fr")))
        assert segmenter("l'eau").words == ("l'", "eau")


class TestUnknownLanguage:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("L'homme qu’on aime, jusqu'ici", "L' homme qu’ on aime , jusqu' ici"),
            ("dell'arte, un'altra, L'État", "dell' arte , un' altra , L' État"),
            ("I'm sure he's O'Brien; don't, c'mon", "I 'm sure he 's O'Brien ; don't , c'mon"),
            ("п'ять o'zbek bo'ldi m'n", "п'ять o'zbek bo'ldi m'n"),
            ("Emañ ar c'hazh, C’HOAR; n'eo ket, d'hor", "Emañ ar c'hazh , C’HOAR ; n' eo ket , d' hor"),
            ("나는 3월에 학교에 갔다.", "나는 3월에 학교에 갔다 ."),
            ("IBM은 http://a.b/c를 e\u0301te\u0301", "IBM은 http://a.b/c 를 e\u0301te\u0301"),
        ],
    )
    def test_rule(self, text, expected):
        assert words(text) == words(text, "und") == words(text, "") == expected.split(" ")

    @pytest.mark.parametrize(
        ("language", "text"),
        [
            ("ja", "私は東京に行きます。"),
            ("ja", "カタカナ only"),
            ("ja", "ﾊﾝｶｸ"),
            ("zh", "我来到北京清华大学。"),
            ("th", "ฉันรักภาษาไทย"),
        ],
    )
    def test_script_decides(self, language, text):
        needs(language)
        assert words(text) == words(text, language)

    def test_each_sentence_by_its_own_script(self):
        needs("ja")
        needs("zh")
        segmenter = segmenter_for(None)
        assert segmenter("これは本です").words == ("これ", "は", "本", "です")
        assert segmenter("这是一本书").words == ("这", "是", "一", "本书")
        assert segmenter("it's").words == ("it", "'s")

    def test_a_lone_sound_mark_is_not_japanese(self, monkeypatch):
        monkeypatch.setattr(segment, "_japanese", lambda: pytest.fail("took it for Japanese"))
        assert words("so coolー") == ["so", "coolー"]


class TestJapanese:
    @pytest.fixture(autouse=True)
    def library(self):
        needs("ja")

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("私は昨日、東京へ行きました。", "私 は 昨日 、 東京 へ 行き まし た 。"),
            ("国家公務員", "国家 公務 員"),
            ("１，０００円と1,000.5円", "１，０００ 円 と 1,000.5 円"),
            ("連絡はfoo@bar.comまで", "連絡 は foo@bar.com まで"),
            ("http://a.b/cを見る。", "http://a.b/c を 見る 。"),
            ("Tシャツとdon't", "Tシャツ と don't"),
            ("本\u3000当\n本", "本 当 本"),
            ("㍿東京👍🏽……", "㍿ 東京 👍🏽 ……"),
        ],
    )
    def test_words(self, text, expected):
        assert words(text, "ja") == expected.split(" ")

    def test_decomposed_kana_keep_their_voicing_marks(self):
        assert words("か\u3099っこう", "ja")[0].startswith("か\u3099")
        assert "\u3099" not in [word[0] for word in words("か\u3099き\u3099く\u3099" * 20, "ja")]

    # Sudachi refuses more than 49,149 bytes, or more than 65,535 once ﷺ has become eighteen letters.
    @pytest.mark.slow
    @pytest.mark.parametrize("character", ["あ", "東", "𠮷", "㍿", "ﷺ", "\u0301", "。", "a", " "])
    def test_long_text_of_one_character(self, character):
        words(character * 66_000, "ja")

    @pytest.mark.parametrize("end", ["", "。", "\n"])
    def test_long_text_is_split_like_a_short_one(self, end):
        sentence = "私は昨日東京へ行きました" + end
        assert words(sentence * 6000, "ja") == words(sentence, "ja") * 6000

    def test_threads(self):
        texts = ["私は昨日東京へ行きました。" * 100] * 64
        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(segmenter_for("ja"), texts))) == 1

    def test_older_sudachipy(self, monkeypatch):
        sudachipy = sys.modules["sudachipy"]
        real = sudachipy.Dictionary()
        made = getattr(real, "tokenizer", None) or real.create
        monkeypatch.setattr(sudachipy, "Dictionary", lambda: type("Dictionary", (), {"create": staticmethod(made)})())
        segment._japanese.cache_clear()
        try:
            assert words("東京へ行く", "ja") == ["東京", "へ", "行く"]
        finally:
            segment._japanese.cache_clear()


class TestChinese:
    @pytest.fixture(autouse=True)
    def library(self):
        needs("zh")

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("我来到北京清华大学。", "我 来到 北京 清华大学 。"),
            ("价格是1,000.50元（约12:30）", "价格 是 1,000.50 元 （ 约 12:30 ）"),
            ("他说——don't……", "他 说 —— don't ……"),
            ("网址http://a.b/c。好", "网址 http://a.b/c 。 好"),
            ("𠮷😀好", "𠮷 😀 好"),
        ],
    )
    def test_words(self, text, expected):
        assert words(text, "zh") == expected.split(" ")

    @pytest.mark.parametrize("code", ["zh", "ZH", "zh-Hant", "zh_Hant_TW", "yue", "wuu", "nan", "cmn-Hans-CN", "zho"])
    def test_codes(self, code):
        assert segmenter_for(code) is segmenter_for("zh")

    @pytest.mark.slow
    def test_long_text(self):
        assert words("我来到北京清华大学" * 8000, "zh") == words("我来到北京清华大学", "zh") * 8000


class TestKorean:
    @pytest.fixture(autouse=True)
    def library(self):
        needs("ko")

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("그는 학교에 갔다.", "그 는 학교 에 갔 다 ."),
            ("해 봤어요", "해 봤 어요"),
            ("예쁜 꽃이 핀다", "예쁜 꽃 이 핀다"),
            ("저는 학생입니다.", "저 는 학생 입니다 ."),
            ("1,000원을 IBM은 http://a.b를", "1,000 원 을 IBM 은 http://a.b 를"),
        ],
    )
    def test_contracted_morphemes_are_merged(self, text, expected):
        assert words(text, "ko") == expected.split(" ")

    @pytest.mark.slow
    def test_long_text(self):
        assert words("나는 학교에 갔다. " * 6000, "ko") == words("나는 학교에 갔다. ", "ko") * 6000


class TestThai:
    @pytest.fixture(autouse=True)
    def library(self):
        needs("th")

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("ฉันรักภาษาไทย", "ฉัน รัก ภาษาไทย"),
            ("ราคา1,234.5บาท", "ราคา 1,234.5 บาท"),
            ("ไทย (abc)!? 😀👍🏽", "ไทย ( abc ) ! ? 😀 👍🏽"),
            ("กิน\u200bข้าว", "กิน\u200b ข้าว"),
        ],
    )
    def test_words(self, text, expected):
        assert words(text, "th") == expected.split(" ")

    @pytest.mark.slow
    def test_long_text(self):
        assert words("ฉันรักภาษาไทย" * 5000, "th") == words("ฉันรักภาษาไทย", "th") * 5000


class TestChoice:
    @pytest.mark.parametrize(
        ("code", "language"), [("ja-JP", "ja"), ("JA", "ja"), ("jpn", "ja"), (" ko_KR ", "ko"), ("tha", "th")]
    )
    def test_primary_subtag_decides_and_the_dictionary_is_shared(self, code, language):
        needs(language)
        assert segmenter_for(code) is segmenter_for(language)

    def test_regions_keep_the_rules_of_their_language(self):
        assert words("l'eau", "fr-CA") == words("l'eau", "FRA") == ["l'", "eau"]
        assert words("it's", "en_GB") == ["it", "'s"]
        assert words("it's", "de") == ["it's"]

    @pytest.mark.parametrize(
        ("language", "module", "text"),
        [(language, module, text) for language, text in zip(LIBRARIES, ("かな", "漢字", "한글", "ไทย"), strict=True)
         for module in LIBRARIES[language]],
    )  # fmt: skip
    def test_missing_library(self, language, module, text, monkeypatch, caplog):
        for name in [name for name in sys.modules if re.match(rf"{module}(\.|$)", name)]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, module, None)
        LOADERS[language].cache_clear()
        with pytest.raises(
            MissingExtraError, match=rf"^Segmenting \w+ needs .*{re.escape(install_command(language))}"
        ) as caught:
            segmenter_for(language)
        assert caught.value.extra == language
        if language != "ko":
            assert words("plain text still works") == ["plain", "text", "still", "works"]
            # Where nobody named the language a warning is enough, and one of them.
            segment._warn_once.cache_clear()
            with caplog.at_level("WARNING", "weft"):
                pieces = [segmenter_for(None)(f"{text} abc") for _ in range(3)]
            assert pieces[0].words[-1] == "abc"
            assert list(pieces[0].words[:-1]) == {"かな": ["か", "な"], "漢字": ["漢", "字"], "ไทย": ["ไท", "ย"]}[text]
            assert len(caplog.records) == 1
            assert install_command(language) in caplog.text

    def test_tokens_that_the_library_rewrote_are_passed_over(self, monkeypatch):
        rewriting = type("rjieba", (), {"cut": staticmethod(lambda text: ["我", "??", "北京", "", "我"])})
        monkeypatch.setitem(sys.modules, "rjieba", rewriting)
        segment._chinese.cache_clear()
        try:
            assert words("我来到北京了", "zh") == ["我", "来到", "北京", "了"]
        finally:
            segment._chinese.cache_clear()


@pytest.mark.parametrize("language", ["Chinese", "zh", " chinese ", "Sinitic"])
def test_a_name_in_place_of_a_code_does_not_leave_a_sentence_in_one_piece(language):
    text = "他昨天借了三本书。"
    assert segmenter_for(language)(text) == segmenter_for(None)(text)
