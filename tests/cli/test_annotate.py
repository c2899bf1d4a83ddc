"""`weft annotate`: a project from files, and the server over it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from processes import interruptible
from weft.annotation.project import Project
from weft.errors import install_command


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "weft", "annotate", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_project_is_made_of_files_and_served(tmp_path):
    (tmp_path / "pairs.txt").write_text("das Haus ||| the house\n\nja ||| yes\n")
    (tmp_path / "first.links").write_text("0-0 1-1\n\n0-0\n")
    done = run(
        tmp_path / "work", "--pairs", tmp_path / "pairs.txt", "--links", tmp_path / "first.links", "--only-create"
    )
    assert done.stderr == f"weft: created the project {tmp_path / 'work'} with 2 pairs. Lines that are not pairs: 1.\n"
    assert [len(each) for each in Project.read(tmp_path / "work").suggestions] == [2, 0, 1]
    command = [sys.executable, "-m", "weft", "annotate", str(tmp_path / "work"), "--port", "0"]
    server = interruptible(command, stderr=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://\S+", server.stderr.readline())[0]
        body = json.dumps({"annotator": "Ann", "links": [[0, 0]], "state": "done"}).encode()
        request = Request(f"{address}/api/projects/work/pairs/0", body, {"Content-Type": "application/json"})
        request.method = "PUT"
        with urlopen(request, timeout=400) as answer:
            assert json.load(answer)["revision"] == 1
        refused = run(tmp_path / "work", "--port", "0")
        assert (refused.returncode, "open in another weft" in refused.stderr) == (2, True)
    finally:
        server.terminate()
        server.wait(timeout=400)
        server.stderr.close()
    # Told to stop, it wrote the plain files.
    line = Path(tmp_path / "work" / "annotations" / "Ann.jsonl").read_text().splitlines()[0]
    assert json.loads(line)["links"] == [[0, 0]]


def test_raw_text_in_named_columns_is_split_into_words(weft, tmp_path):
    (tmp_path / "pairs.tsv").write_text("7\tL'homme est venu.\tThe man came.\n", encoding="utf-8")
    text = ("--raw", "--source-language", "fr", "--columns", "id,source,target")
    done = weft("annotate", tmp_path / "work", "--pairs", tmp_path / "pairs.tsv", "--only-create", *text)
    assert done.stderr == f"weft: created the project {tmp_path / 'work'} with 1 pair.\n"
    [entry] = Project.read(tmp_path / "work").pairs
    assert entry.pair == (("L'", "homme", "est", "venu", "."), ("The", "man", "came", "."))
    refused = weft("annotate", tmp_path / "work", "--raw")
    assert (refused.returncode, "only work with --pairs" in refused.stderr) == (2, True)


def test_text_that_is_not_split_and_ids_are_warned_of(weft, tmp_path):
    (tmp_path / "s.tsv").write_text("Der Zug hat Verspätung.\tThe train is late today.\n", encoding="utf-8")
    done = weft("annotate", tmp_path / "q", "--pairs", tmp_path / "s.tsv", "--only-create")
    assert "does not seem to be split into words (Verspätung.). To split it, add --raw.\n" in done.stderr
    (tmp_path / "ids.csv").write_text("Nr;Deutsch;Englisch\n1;ja;yes\n2;gut;good\n3;nein;no\n", encoding="utf-8")
    done = weft("annotate", tmp_path / "ids", "--pairs", tmp_path / "ids.csv", "--only-create")
    assert "this looks like a line of column names (Nr, Deutsch, Englisch)" in done.stderr
    assert "as in --source-field Deutsch --target-field Englisch" in done.stderr
    (tmp_path / "ids.csv").write_text("1;ja;yes\n2;;\n3;nein;no\n", encoding="utf-8")
    done = weft("annotate", tmp_path / "other", "--pairs", tmp_path / "ids.csv", "--only-create")
    assert "the first column looks like ids (1, 3, ...)" in done.stderr


def test_a_folder_with_other_files_is_refused(weft, tmp_path):
    (tmp_path / "pairs.txt").write_text("ja ||| yes\n")
    done = weft("annotate", ".", "--pairs", "pairs.txt", "--only-create", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2, "weft: . contains other files, such as pairs.txt; name a new folder for the project.\n",
    )  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.txt"]


def test_a_team_needs_a_token(tmp_path):
    command = [sys.executable, "-m", "weft", "annotate", str(tmp_path), "--port", "0", "--token", "s3cret"]
    server = interruptible(command, stderr=subprocess.PIPE, text=True)
    try:
        said = server.stderr.readline() + server.stderr.readline()
        address = re.search(r"http://\S+", said)[0]
        with pytest.raises(HTTPError, match="401"):
            urlopen(f"{address}/api/projects", timeout=400)
        signed = Request(f"{address}/api/projects", headers={"Authorization": "Bearer s3cret"})
        with urlopen(signed, timeout=400) as answer:
            assert json.load(answer) == {"available": True, "can_create": True, "projects": []}
    finally:
        server.terminate()
        server.wait(timeout=400)
        server.stderr.close()


def test_what_makes_no_sense_is_refused(tmp_path):
    assert "only work with --pairs" in run(tmp_path / "x", "--only-create").stderr
    (tmp_path / "bad").write_text("nothing\n")
    assert "contains no sentence pairs" in run(tmp_path / "x", "--pairs", tmp_path / "bad").stderr
    assert not (tmp_path / "x").exists()


def test_a_project_that_is_there_is_not_made_again(weft, tmp_path):
    (tmp_path / "pairs.tsv").write_text("id\tde\n1\tja\n2\tnein\n3\tgut\n")
    made = ("annotate", "my work", "--pairs", "pairs.tsv", "--only-create")
    assert weft(*made, cwd=tmp_path).returncode == 0
    done = weft(*made, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "weft: my work is a project already. To open it: weft annotate 'my work'\n",
    )


def test_links_that_are_too_few(weft, tmp_path):
    (tmp_path / "pairs").write_text("a ||| x\nb ||| y\n")
    (tmp_path / "links").write_text("0-0\n")
    done = weft("annotate", "work", "--pairs", "pairs", "--links", "links", "--only-create", cwd=tmp_path)
    assert "weft: links has 1 line but the list of pairs has 2 lines;" in done.stderr


@pytest.mark.parametrize("options", [(), ("--pairs", "pairs.txt")])
def test_without_the_web_app_nothing_is_created(tmp_path, options):
    (tmp_path / "pairs.txt").write_text("das Haus ||| the house\n")
    code = "import sys; sys.modules['fastapi'] = None; sys.argv[0] = 'weft'; from weft.cli.main import main; main()"
    command = [sys.executable, "-c", code, "annotate", "work", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"weft: The web app needs an optional part of weft: {install_command('serve')}.\n"
    assert not (tmp_path / "work").exists()
    only = subprocess.run([*command, "--only-create"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (only.returncode, (tmp_path / "work").exists()) == ((0, True) if options else (2, False))
