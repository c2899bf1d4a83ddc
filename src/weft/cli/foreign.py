"""Options of other aligners after weft's commands: recognised, and answered with the line to type."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from weft.errors import SettingError


@dataclass(frozen=True, slots=True)
class _Option:
    """What an option of another tool is in weft: some words, and then what becomes of its value, if that counts."""

    words: tuple[str, ...] = ()
    value: Callable[[str], Sequence[str]] | None = None
    has_value: bool = True


def _same(value: str) -> Sequence[str]:
    return (value,)


_FILE, _NOTHING, _FLAG = _Option(value=_same), _Option(), _Option(has_value=False)
_OUTPUT = _Option(("-o",), _same)
_AWESOME = {
    "--data_file": _FILE,
    "--output_file": _OUTPUT,
    "--model_name_or_path": _Option(("--model",), _same),
    "--align_layer": _Option(("--layer",), _same),
    "--extraction": _Option(("--method",), lambda name: (name.removesuffix("15"),)),
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
    **dict.fromkeys(("-I", "-q", "-a", "-T", "-p", "-f", "-m", "-b", "-t"), _NOTHING),
}
_SIM_METHODS = {"m": "match", "mwmf": "match", "a": "argmax", "inter": "argmax", "i": "itermax", "itermax": "itermax"}
_SIM_DIRECTIONS = {"f": "forward", "fwd": "forward", "r": "backward", "rev": "backward"}
_SIM_MODELS = {"bert": "bert-base-multilingual-cased", "xlmr": "xlm-roberta-base"}


def _first_method(names: str) -> Sequence[str]:
    """Of several methods, which weft would take one after the other, the first."""
    name = names if names in _SIM_METHODS or names in _SIM_DIRECTIONS else names[:1]
    if name in _SIM_DIRECTIONS:
        return ("argmax", "--symmetrize", _SIM_DIRECTIONS[name])
    return (_SIM_METHODS.get(name, names),)


_SIM = {
    f"{dash}{name}": option
    for dash in ("-", "--")
    for name, option in {
        "output": _OUTPUT,
        "model": _Option(("--model",), lambda name: (_SIM_MODELS.get(name, name),)),
        "device": _Option(("--device",), _same),
        "layer": _Option(("--layer",), _same),
        "matching-methods": _Option(("--method",), _first_method),
        "add-probs": _Option(("--scores",), has_value=False),
        "log": _FLAG,
        **dict.fromkeys(("token-type", "distortion", "null-align", "num-test-sents", "batch-size"), _NOTHING),
    }.items()
}
# weft has these itself.
_OWN = {"--output", "--model", "--device", "--layer", "-o"}
_FORWARD, _BACKWARD = ("-f", "--forward-links"), ("-r", "--reverse-links")
_SIDES = ("-s", "--source", "-t", "--target")
_EFLOMAL = {
    **dict.fromkeys(("-i", "--input", *_SIDES), _FILE),
    **dict.fromkeys(("-v", "--verbose", "--overwrite", "--debug"), _FLAG),
    **dict.fromkeys((*_FORWARD, *_BACKWARD), _OUTPUT),
    **dict.fromkeys(("-F", "-R", "--forward-scores", "--reverse-scores"), _Option(("--output-format", "jsonl"))),
    **dict.fromkeys(("-p", "-m", "-M", "-l", "-1", "-2", "-3"), _NOTHING),
    **dict.fromkeys(("--priors", "--score-model", "--length", "--n-samplers", "--null-prior"), _NOTHING),
    **dict.fromkeys(("--ibm1-iters", "--hmm-iters", "--fert-iters"), _NOTHING),
    **dict.fromkeys((f"--{side}-{part}" for side in ("source", "target") for part in ("prefix", "suffix")), _NOTHING),
}
# Short options as C programs take them, written together: flags, and a number behind its option.
_FLAGS_TOGETHER = re.compile(r"-[dovrNs]{2,}")
_NUMBER_BEHIND = re.compile(r"(-[IqaTmbtl])(\d[\d.]*)")

_AER = {
    "--oneRef": _Option(("--gold-base", "1"), has_value=False),
    "--oneHyp": _Option(("--system-base", "1"), has_value=False),
    "--ignorePossible": _Option(("--ignore-possible",), has_value=False),
    **dict.fromkeys(("--allSure", "--cleanPunctuation", "--reverseRef", "--reverseHyp"), _FLAG),
    **dict.fromkeys(("--fAlpha", "--most_common_errors"), _NOTHING),
}
# What a file of links has to become first: the first is the gold, the second the system.
_CONVERTED = {
    "--allSure": (0, ("all-sure.links",)),
    "--reverseRef": (0, ("swapped-gold.talp", "--swap", "--to", "talp")),
    "--reverseHyp": (1, ("swapped.links", "--swap")),
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
    command, given = "".join(arguments[:1]), arguments[1:]
    if command == "symmetrize":
        _explain_atools(given)
    if command == "score":
        _explain_aer(given)
    _explain_habits(command, given)
    if command == "align":
        _explain_aligners(given)


def _explain_aligners(arguments: Sequence[str]) -> None:
    """Answer the options of awesome-align, simalign, eflomal and fast_align."""
    for tool, table in (("awesome-align", _AWESOME), ("simalign", _SIM)):
        if found := _first_of(table, arguments):
            raise SettingError(_answer(found, tool, _translated(arguments, table)))
    arguments = _apart(arguments)
    found = _first_of({**_FAST, **_EFLOMAL}, arguments)
    if found is None:
        return
    if _is_for_eflomal(arguments):
        raise SettingError(_answer(found, "eflomal", _eflomal_line(arguments)))
    # `-o` is a flag there, and names the output here; a name behind it is the input's only if no other option has that.
    own = "-i" in arguments and any(name == "-o" and value[:1] != "-" for name, value in pairwise(arguments))
    table = _FAST | ({"-o": _OUTPUT} if own else {})
    raise SettingError(_answer(found, "fast_align", _translated(arguments, table)))


def _first_of(options: Container[str], arguments: Sequence[str]) -> str | None:
    """The first argument that is one of some options and none of weft's, nor the value of one, as in `--null -1`."""
    for before, argument in zip(["", *arguments], arguments, strict=False):
        name = argument.partition("=")[0]
        if name in options and name not in _OWN and before not in ("--null", "-o"):
            return name
    return None


def _apart(arguments: Sequence[str]) -> list[str]:
    """The arguments with `-dov` as `-d -o -v` and `-I5` as `-I 5`."""
    apart: list[str] = []
    for argument in arguments:
        if _FLAGS_TOGETHER.fullmatch(argument):
            apart += [f"-{letter}" for letter in argument[1:]]
        elif found := _NUMBER_BEHIND.fullmatch(argument):
            apart += found.groups()
        else:
            apart.append(argument)
    return apart


def _is_for_eflomal(arguments: Sequence[str]) -> bool:
    """Whether short options that fast_align has too are meant as eflomal's: several of them name files there."""
    given = {argument.partition("=")[0] for argument in arguments}
    if given & (_EFLOMAL.keys() - _FAST.keys()):
        return True
    if given & (_FAST.keys() - _EFLOMAL.keys() - _OWN):
        return False
    names_file = any(name in ("-r", "-s") and not value.startswith("-") for name, value in pairwise(arguments))
    return names_file or "-f" in given


def _eflomal_line(arguments: Sequence[str]) -> list[str]:
    """A line for eflomal in weft's words; one direction alone, if only one is asked for."""
    given = {argument.partition("=")[0] for argument in arguments}
    forward, backward = not given.isdisjoint(_FORWARD), not given.isdisjoint(_BACKWARD)
    options = dict(_EFLOMAL)
    if forward and backward:
        options |= dict.fromkeys(_BACKWARD, _NOTHING)  # both are one file here
    line = _translated(arguments, options)
    sides = [name for name in arguments if name.partition("=")[0] in _SIDES]
    if len(sides) == 2 and sides[0].startswith(("-t", "--target")):
        line[:2] = reversed(line[:2])
    if forward == backward:
        return line
    # Its forward links are those in which each target word chooses.
    return [*line, "--method", "softmax", "--symmetrize", "backward" if forward else "forward"]


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
        "display": ["view", "PAIRS", *files[:1], "--text"],
        "intersect": ["symmetrize", *files, "--method", "intersection"],
        "grow-diag-final-and": ["symmetrize", *files],
    }
    line = lines.get(command, ["symmetrize", *files, "--method", command])
    raise SettingError(f"-c is an option of atools. In weft, type: weft {shlex.join(line)}")


def _explain_aer(arguments: Sequence[str]) -> None:
    """Answer the options of the script that comes with awesome-align."""
    found = next((argument for argument in arguments if argument in _AER), None)
    if found is None:
        return
    line = _translated(arguments, _AER)
    lines = []
    if len(line) > 1 and not line[0].startswith("-") and not line[1].startswith("-"):
        for option, (place, ending) in _CONVERTED.items():
            if option in arguments:
                lines.append(f"weft convert {shlex.join([line[place], *ending])} && ")
                line[place] = ending[0]
    raise SettingError(_answer(found, "awesome-align's aer.py", line, before="".join(lines), command="score"))


def _answer(option: str, tool: str, line: list[str], *, before: str = "", command: str = "align") -> str:
    return f"{option} is an option of {tool}. In weft, type: {before}weft {command} {shlex.join(line)}".rstrip()


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
            words = [*option.words, *(option.value(value) if option.value else ())]
            rest += words if words != rest[-len(words) :] else []
    return files + rest
