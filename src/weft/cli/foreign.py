"""Options of other aligners after weft's commands: recognised, and answered with the line to type."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from weft.errors import SettingError


@dataclass(frozen=True, slots=True)
class _Option:
    """What an option of another tool is in weft: some words, with its value at the end if it has one that counts."""

    words: tuple[str, ...] = ()
    value: Callable[[str], str] | None = None  # how its value is written here
    has_value: bool = True


def _same(value: str) -> str:
    return value


_FILE, _NOTHING, _FLAG = _Option(value=_same), _Option(), _Option(has_value=False)
_AWESOME = {
    "--data_file": _FILE,
    "--output_file": _Option(("-o",), _same),
    "--model_name_or_path": _Option(("--model",), _same),
    "--align_layer": _Option(("--layer",), _same),
    "--extraction": _Option(("--method",), lambda name: name.removesuffix("15")),
    "--softmax_threshold": _Option(("--threshold",), _same),
    "--output_prob_file": _Option(("--scores", "raw")),
    "--output_word_file": _Option(("--output-format", "words")),
    "--no_cuda": _Option(("--device", "cpu"), has_value=False),
    **dict.fromkeys(("--batch_size", "--cache_dir", "--config_name", "--tokenizer_name", "--seed"), _NOTHING),
    "--num_workers": _NOTHING,
}
_FAST = {
    "-i": _FILE,
    **dict.fromkeys(("-d", "-o", "-v", "-r", "-N"), _FLAG),
    "-s": _Option(("--output-format", "jsonl"), has_value=False),
    **dict.fromkeys(("-I", "-q", "-a", "-T", "-p", "-f", "-m", "-b"), _NOTHING),
}
_SIM_METHODS = {"m": "match", "mwmf": "match", "a": "argmax", "inter": "argmax", "i": "itermax", "itermax": "itermax"}


_SIM_MODELS = {"bert": "bert-base-multilingual-cased", "xlmr": "xlm-roberta-base"}


def _first_method(names: str) -> str:
    """Of several methods, which weft would take one after the other, the first."""
    return _SIM_METHODS.get(names, _SIM_METHODS.get(names[:1], names))


_SIM = {
    f"{dash}{name}": option
    for dash in ("-", "--")
    for name, option in {
        "output": _Option(("-o",), _same),
        "model": _Option(("--model",), lambda name: _SIM_MODELS.get(name, name)),
        "device": _Option(("--device",), _same),
        "matching-methods": _Option(("--method",), _first_method),
        "add-probs": _Option(("--scores",), has_value=False),
        **dict.fromkeys(("token-type", "distortion", "null-align", "num-test-sents", "batch-size", "layer"), _NOTHING),
    }.items()
}
# weft has these itself.
_OWN = {"--output", "--model", "--device", "--layer", "--batch-size"}
_EFLOMAL = {
    **dict.fromkeys(("-i", "-s", "-t"), _FILE),
    **dict.fromkeys(("-v", "--overwrite"), _FLAG),
    "-f": _Option(("-o",), _same),
    **dict.fromkeys(("-r", "-F", "-R", "-p", "-m", "-M", "-l", "-1", "-2", "-3"), _NOTHING),
}


_AER = {
    "--oneRef": _Option(("--gold-base", "1"), has_value=False),
    "--oneHyp": _Option(("--system-base", "1"), has_value=False),
    "--ignorePossible": _Option(("--ignore-possible",), has_value=False),
    **dict.fromkeys(("--allSure", "--cleanPunctuation"), _FLAG),
    **dict.fromkeys(("--fAlpha", "--most_common_errors"), _NOTHING),
}
# What people type in passing, and what does it here.
_MEANT = {
    **dict.fromkeys(("--gpu", "--cuda", "--use-gpu"), "--device cuda"),
    **dict.fromkeys(("--tokenise", "--tokenize", "--tokenizer", "--tokenization"), "--raw"),
}
_MEANT_BY = {
    "align": dict.fromkeys(("--json", "--jsonl"), "--output-format jsonl")
    | dict.fromkeys(("--threads", "--num-threads", "--jobs", "-j"), "--workers"),
    "lexicon": dict.fromkeys(("--json", "--jsonl"), "--format jsonl"),
}
_SYMMETRIZATIONS = ("grow-diag", "grow-diag-final", "grow-diag-final-and", "intersection", "union")
_ALIGNING = ("align", "lexicon", "phrases", "filter", "project")


def _explain_habits(command: str, arguments: Sequence[str]) -> None:
    """Answer options that no aligner has and many people try, and ways to symmetrize in place of a method."""
    if command not in _ALIGNING:
        return
    given = [argument.partition("=")[0] for argument in arguments]
    meant = _MEANT | _MEANT_BY.get(command, {})
    for option in given:
        if option in meant:
            raise SettingError(f"weft {command} has no option {option}; use {meant[option]}.")
    typed = " ".join(arguments).replace("--method=", "--method ").split(" ")
    method = dict(pairwise(typed)).get("--method")
    if method in _SYMMETRIZATIONS:
        use = f"use --symmetrize {method}."
        if command != "align":
            use = f"align with weft align --symmetrize {method}, and give the result with --links."
        raise SettingError(f"{method} combines two directions, which is not a method: {use}")


def explain_foreign_options(arguments: Sequence[str]) -> None:
    """Refuse a line that was written for another aligner, and say how weft wants it.

    Args:
        arguments: the command line after `weft`.

    Raises:
        SettingError: an option belongs to another aligner; the message holds the line to type.
    """
    if list(arguments[:1]) == ["symmetrize"]:
        _explain_atools(arguments[1:])
    if list(arguments[:1]) == ["score"]:
        _explain_aer(arguments[1:])
    _explain_habits("".join(arguments[:1]), arguments[1:])
    if list(arguments[:1]) != ["align"]:
        return
    given = [argument.partition("=")[0] for argument in arguments[1:]]
    awesome = next((argument for argument in given if argument in _AWESOME), None)
    if awesome:
        raise SettingError(_answer(awesome, "awesome-align", _translated(arguments[1:], _AWESOME)))
    sim = next((argument for argument in given if argument in _SIM and argument not in _OWN), None)
    if sim:
        raise SettingError(_answer(sim, "simalign", _translated(arguments[1:], _SIM)))
    if "-s" in given and "-t" in given:
        raise SettingError(_answer("-s", "eflomal", _translated(arguments[1:], _EFLOMAL)))
    fast = next((argument for argument in given if argument in ("-i", "-d", "-v", "-r")), None)
    if fast:
        raise SettingError(_answer(fast, "fast_align", _translated(arguments[1:], _FAST)))


def _explain_atools(arguments: Sequence[str]) -> None:
    """Answer `-c COMMAND -i FORWARD -j BACKWARD` of atools."""
    if "-c" not in arguments or "-i" not in arguments:
        return
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    command, files = given.get("-c", ""), [given[name] for name in ("-i", "-j") if name in given]
    lines = {
        "invert": ["convert", *files[:1], "--swap"],
        "convert": ["convert", *files[:1]],
        "fmeasure": ["score", *reversed(files)],
        "intersect": ["symmetrize", *files, "--method", "intersection"],
        "grow-diag-final-and": ["symmetrize", *files],
    }
    line = lines.get(command, ["symmetrize", *files, "--method", command])
    raise SettingError(f"-c is an option of atools. In weft, type: weft {shlex.join(line)}")


def _explain_aer(arguments: Sequence[str]) -> None:
    """Answer the options of the script that comes with awesome-align."""
    if found := next((argument for argument in arguments if argument in _AER), None):
        raise SettingError(_answer(found, "awesome-align's aer.py", _translated(arguments, _AER), command="score"))


def _answer(option: str, tool: str, line: list[str], *, command: str = "align") -> str:
    return f"{option} is an option of {tool}. In weft, type: weft {command} {shlex.join(line)}".rstrip()


def _translated(arguments: Sequence[str], options: Mapping[str, _Option]) -> list[str]:
    """The same line in weft's words: files first, then options; what is unknown stays as it is."""
    files: list[str] = []
    rest: list[str] = []
    places = iter(arguments)
    for argument in places:
        name, joined, value = argument.partition("=")
        option = options.get(name)
        if option is None:
            rest.append(argument)
            continue
        if option.has_value and not joined:
            value = next(places, "")
        if option is _FILE:
            files.append(value)
        else:
            rest += [*option.words, *([option.value(value)] if option.value else [])]
    return files + rest
