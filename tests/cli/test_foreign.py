from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from weft.cli.main import _with_optional_values, command_line


@pytest.mark.parametrize(
    ("line", "tool", "answer"),
    [
        ("--data_file pairs.txt --output_file out.links --model_name_or_path bert-base-multilingual-cased "
         "--extraction softmax --batch_size 32",
         "--data_file is an option of awesome-align",
         "pairs.txt -o out.links --model bert-base-multilingual-cased --method softmax"),
        ("--data_file=a.txt --extraction entmax15 --softmax_threshold 0.01 --no_cuda --align_layer 8",
         "--data_file is an option of awesome-align", "a.txt --method entmax --threshold 0.01 --device cpu --layer 8"),
        ("--model_name_or_path M 'my pairs.txt'", "--model_name_or_path is an option of awesome-align",
         "--model M 'my pairs.txt'"),
        ("-i pairs.txt -d -o -v", "-i is an option of fast_align", "pairs.txt"),
        ("-d -o -v -i pairs.txt -r -T 5", "-d is an option of fast_align", "pairs.txt"),
        ("de.txt en.txt -output out -matching-methods mai -add-probs", "-output is an option of simalign",
         "de.txt en.txt -o out --method match --scores"),
        ("de.txt en.txt --matching-methods inter", "--matching-methods is an option of simalign",
         "de.txt en.txt --method argmax"),
        ("--model bert --matching-methods i", "--matching-methods is an option of simalign",
         "--model bert-base-multilingual-cased --method itermax"),
        ("-i pairs.txt -f fwd --overwrite", "-i is an option of eflomal",
         "pairs.txt -o fwd --method softmax --symmetrize backward"),
        ("--target=en.txt --source de.txt -r rev -F scores -R scores", "--target is an option of eflomal",
         "de.txt en.txt -o rev --output-format jsonl --method softmax --symmetrize forward"),
        ("-i pairs.txt -dov -I5", "-i is an option of fast_align", "pairs.txt"),
        ("-i pairs.txt -o out.links -d", "-i is an option of fast_align", "pairs.txt -o out.links"),
        ("-d -v -o pairs.txt", "-d is an option of fast_align", "pairs.txt"),
        ("de.txt en.txt --matching-methods f", "--matching-methods is an option of simalign",
         "de.txt en.txt --method argmax --symmetrize forward"),
        ("-s de.txt -t en.txt -f out.fwd -r out.rev --overwrite -m 3", "-s is an option of eflomal",
         "de.txt en.txt -o out.fwd"),
    ],
)  # fmt: skip
def test_a_line_of_another_tool_is_answered_with_the_line_to_type(weft, line, tool, answer):
    done = weft("align", *shlex.split(line))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"weft: {tool}. In weft, type: weft align {answer}\n"


TABLES = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text(encoding="utf-8")
FLAGS = {"-d", "-o", "-v", "-r", "-N", "-s", "-log", "--no_cuda", "--add-probs", "--overwrite"}
FLAGS |= {"--oneRef", "--oneHyp", "--ignorePossible", "--allSure", "--reverseRef", "--reverseHyp", "--cleanPunctuation"}
VALUES = {"--extraction": "softmax", "--matching-methods": "mai", "--softmax_threshold": "0.1", "-device": "cpu"}


def options_of(tool):
    """The options in the first column of a table of coming-from.md that weft does not have itself."""
    table = TABLES.split(f"| {tool} | weft")[1].split("\n\n")[0]
    cells = [row.split("|")[1] for row in table.splitlines()[2:]]
    names = [name for cell in cells for code in re.findall("`([^`]+)`", cell) for name in code.split()]
    return sorted({name for name in names if name.startswith("-")} - {"-", "-o", "--source", "--target"})


def parse(line):
    """Read a command line as weft does, and run nothing."""
    weft, *words = shlex.split(line)
    name, *arguments = _with_optional_values(words)
    assert weft == "weft"
    get_command(command_line(name)).commands[name].make_context(name, arguments)


@pytest.mark.parametrize(
    ("tool", "option"),
    [
        (tool, option)
        for tool in ("awesome-align", "tools/aer.py", "scripts/align_files.py", "fast_align", "eflomal-align")
        for option in options_of(tool)
    ],
)
def test_every_option_in_the_tables_is_answered_with_a_line_that_can_be_typed(weft, tool, option):
    command, files = ("score", ["gold", "mine"]) if tool == "tools/aer.py" else ("align", ["a.txt"])
    flags = FLAGS - ({"-r", "-s"} if tool == "eflomal-align" else set())
    value = [] if option in flags else [VALUES.get(option, "8")]
    done = weft(command, *files, option, *value)
    assert done.returncode == 2
    answer, _, line = done.stderr.strip().partition(" In weft, type: ")
    assert answer.startswith(f"weft: {option} is an option of ")
    for part in line.split(" && "):
        parse(part)


def test_numbers_below_zero_are_no_options_of_another_tool(weft, tmp_path):
    assert weft("align", "--null", "-1", stdin="das ||| that\n").stdout == "0-0\n"


def test_the_line_to_type_works(weft, tmp_path):
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("das ist gut ||| that is good\n")
    done = weft("align", "--data_file", pairs, "--extraction", "softmax", "--output_file", tmp_path / "out")
    _, _, line = done.stderr.strip().partition("weft align ")
    assert weft("align", *shlex.split(line)).returncode == 0
    assert (tmp_path / "out").read_text() == "0-0 1-1 2-2\n"


def test_weft_has_no_option_that_is_taken_for_another_tool(weft):
    """Its own short options, and files that are called like options of others, go their own way."""
    assert "is an option of" not in weft("align", "-o", "-", "/nowhere").stderr
    assert "is an option of" not in weft("score", "-i", "x").stderr


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("-c grow-diag-final-and -i f.links -j r.links", "weft symmetrize f.links r.links"),
        ("-i f.links -j r.links -c intersect", "weft symmetrize f.links r.links --method intersection"),
        ("-c union -i f.links -j r.links", "weft symmetrize f.links r.links --method union"),
        ("-c invert -i f.links", "weft convert f.links --swap"),
        ("-c fmeasure -i mine.links -j gold.talp", "weft score gold.talp mine.links"),
    ],
)
def test_a_line_of_atools_is_answered_too(weft, line, answer):
    done = weft("symmetrize", *line.split())
    assert done.returncode == 2
    assert done.stderr == f"weft: -c is an option of atools. In weft, type: {answer}\n"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("align pairs.txt --gpu", "weft align has no option --gpu; use --device cuda."),
        ("align pairs.txt --jsonl", "weft align has no option --jsonl; use --output-format jsonl."),
        ("lexicon pairs.txt --jsonl", "weft lexicon has no option --jsonl; use --format jsonl."),
        ("filter pairs.txt --tokenise", "weft filter has no option --tokenise; use --raw."),
        ("align pairs.txt --method grow-diag-final-and", "grow-diag-final-and combines two directions, which is not a "
         "method: use --symmetrize grow-diag-final-and."),
        ("align pairs.txt --method=union",
         "union combines two directions, which is not a method: use --symmetrize union."),
        ("phrases pairs.txt --method union", "union combines two directions, which is not a method: align with "
         "weft align --symmetrize union, and give the result with --links."),
        ("score gold.talp my.links --oneRef --ignorePossible",
         "--oneRef is an option of awesome-align's aer.py. In weft, type: weft score gold.talp my.links "
         "--gold-base 1 --ignore-possible"),
        ("score gold.talp my.links --reverseHyp",
         "--reverseHyp is an option of awesome-align's aer.py. In weft, type: weft convert my.links swapped.links "
         "--swap && weft score gold.talp swapped.links"),
    ],
)  # fmt: skip
def test_options_typed_out_of_habit_are_answered_with_what_does_it_here(weft, line, answer):
    done = weft(*shlex.split(line))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"weft: {answer}\n")


def test_a_folder_is_answered_with_what_reads_folders(weft, tmp_path):
    (tmp_path / "texts").mkdir()
    done = weft("align", "texts", cwd=tmp_path)
    assert (
        done.stderr == "weft: texts: Is a directory. Folders need --engine ray; without it, align one file at a time.\n"
    )
    (tmp_path / "pairs").write_text("a ||| b\n")
    done = weft("align", "pairs", "-o", "texts", cwd=tmp_path)
    assert done.stderr == "weft: texts: Is a directory.\n"
