"""What `evidence.py` needs on the machine with the GPU, as one archive: text and gold in words, a model, packages."""

from __future__ import annotations

import json
import lzma
import random
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

PACKAGES = ("array-api-compat", "attrs", "backports.zstd", "cattrs", "entmax", "rich", "typer==0.23.*", "sil-thot")
THEIR_PACKAGES = ("annotated-doc", "click", "markdown-it-py", "mdurl", "pygments", "shellingham")
FOURTH = "70abd36:src/weft/models/weft-mini"
MODEL_FILES = ("config.json", "model.onnx", "tokenizer.json", "tokenizer_config.json", "weft.json")
TEXT_LANGUAGES = ("et", "sl", "hu", "lv", "ko", "ar", "ru", "fi")
NEW_LANGUAGES = ("te", "bn", "gu", "kn", "mr", "ne", "pa")
GOLD_SIZES = (50, 100, 200, 500)
ARCHIVE = "packed.tar.xz"
_VERSES, _GOLD_VERSES, _ANCHOR_LINES = 5_000, 500, 150
_MOST_WORDS = 100


def pack(data: Path, archive: Path, *, lines: int, python: str) -> None:
    """Write an archive with everything that the machine with the GPU lacks."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        collect(data, folder, lines)
        pack_packages(folder / "packages", python)
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive, "w:xz") as file:
            file.add(folder, arcname=".")
    print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB")


def collect(data: Path, folder: Path, lines: int) -> None:
    """Write text, gold and the fourth weft-mini into a folder."""
    pack_base(folder / "fourth")
    pack_gold(data, folder / "gold.tsv")
    for language in NEW_LANGUAGES:
        pack_verses(data, language, folder, text=_VERSES, gold=_GOLD_VERSES)
    for language in ("fi", "ar"):
        pack_verses(data, language, folder, text=0, gold=max(GOLD_SIZES))
    pack_japanese(data, folder)
    for language in TEXT_LANGUAGES:
        write_pairs(folder / f"text.{language}", some_text(data, language, lines))
    languages = sorted({path.name.split(".")[0] for path in (data / "multi").glob("*/*.txt.xz")} - {"en"})
    write_pairs(folder / "anchor.all", (pair for name in languages for pair in some_text(data, name, _ANCHOR_LINES)))
    old = json.loads((folder / "fourth" / "weft.json").read_text())["languages"]
    write_pairs(
        folder / "anchor.old",
        (pair for name in languages if name in old for pair in some_text(data, name, _ANCHOR_LINES)),
    )


def pack_base(folder: Path) -> None:
    """The fourth weft-mini, which had no pieces for most Indian scripts and had seen no verses with links."""
    folder.mkdir()
    for name in MODEL_FILES:
        with (folder / name).open("wb") as file:
            subprocess.run(["git", "show", f"{FOURTH}/{name}"], check=True, stdout=file, cwd=Path(__file__).parent)


def pack_packages(folder: Path, python: str) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps", "--target", str(folder)]
    wheels = ["--only-binary", ":all:", "--python-version", python]
    subprocess.run([*command, *wheels, *PACKAGES, *THEIR_PACKAGES], check=True)


def pack_gold(data: Path, path: Path) -> None:
    """All gold sets as one file: set, source, target, links. Dev sets are pud/PAIR and verses/PAIR."""
    with path.open("w", encoding="utf-8") as file:
        for links in sorted((data / "gold").glob("*/*.talp")):
            name = f"pud/{links.stem}" if links.parent.name == "pud" else f"{links.stem}/{links.parent.name}"
            sides = [links.with_suffix(end).read_text(encoding="utf-8").splitlines() for end in (".src", ".tgt")]
            for row in zip(*sides, links.read_text(encoding="utf-8").splitlines(), strict=True):
                file.write("\t".join((name, *row)) + "\n")
        for verses in sorted((data / "gold-joined").glob("*.dev.tsv.xz")):
            for line in lines_of(verses):
                file.write("\t".join((f"verses/{verses.name.split('.')[0]}", *line.split("\t")[1:])) + "\n")


def pack_verses(data: Path, language: str, folder: Path, *, text: int, gold: int) -> None:
    """Verses without links to learn from, and others with gold links."""
    lines = [line.split("\t")[1:] for line in lines_of(data / "gold-joined" / f"{language}-en.tsv.xz")]
    random.Random(f"verses {language}").shuffle(lines)
    with_gold, rest = lines[:gold], lines[gold : gold + text]
    print(f"{language}: {len(rest):,} verses, {len(with_gold)} with gold links")
    write_pairs(folder / f"gold.{language}", ((source, target) for source, target, _ in with_gold))
    write_lines(folder / f"gold.{language}.links", (links for _, _, links in with_gold))
    if text:
        write_pairs(folder / f"verses.{language}", ((source, target) for source, target, _ in rest))


def pack_japanese(data: Path, folder: Path) -> None:
    prefix = data / "gold" / "ja-en" / "dev"
    rows = list(
        zip(*(prefix.with_suffix(end).read_text().splitlines() for end in (".src", ".tgt", ".talp")), strict=True)
    )
    random.Random("gold ja").shuffle(rows)
    rows = rows[: max(GOLD_SIZES)]
    write_pairs(folder / "gold.ja", ((source, target) for source, target, _ in rows))
    write_lines(folder / "gold.ja.links", (links for _, _, links in rows))


def some_text(data: Path, language: str, most: int) -> Iterator[tuple[str, str]]:
    """Lines of a language with their English, drawn at random and cut as `weft align --raw` cuts them."""
    from weft.text.segment import word_splitters

    found = []
    for path in sorted((data / "multi").glob(f"*/{language}.txt.xz")):
        sides = zip(lines_of(path), lines_of(path.with_name("en.txt.xz")), strict=True)
        found += [pair for pair in sides if all(pair)]
    random.Random(f"text {language}").shuffle(found)
    split = word_splitters(True, language, "en")
    given = 0
    for pair in found:
        words = [cut(side) for cut, side in zip(split, pair, strict=True)]
        if given < most and all(0 < len(side) <= _MOST_WORDS for side in words):
            given += 1
            yield " ".join(words[0]), " ".join(words[1])
        elif given == most:
            break
    if most >= 1000:
        print(f"{language}: {given:,} lines of {len(found):,}")


def lines_of(path: Path) -> list[str]:
    return lzma.decompress(path.read_bytes()).decode().split("\n")[:-1]


def write_pairs(path: Path, pairs: Iterable[tuple[str, str]]) -> None:
    write_lines(path, (" ||| ".join(pair) for pair in pairs))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
