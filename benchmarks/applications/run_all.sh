#!/bin/sh
# Every measurement of this folder again: run_all.sh WORDS SILVER [ALIGNER ...]
#
# WORDS and SILVER are made by the recipe of weft-mini (words of the training text, links of a statistical aligner).
# ALIGNER is a model or FOLDER:LAYER; weft-mini by default. LINES is how many lines a lexicon is counted over.
set -eu
here=$(dirname "$0")
words=$1
silver=$2
shift 2
[ $# -gt 0 ] || set -- weft-mini
python=${PYTHON:-python}
weft="$python -m weft"
lines=${LINES:-20000}
links=$(mktemp)
trap 'rm -f "$links"' EXIT
aligners=
for aligner in "$@"; do
    aligners="$aligners --aligner $aligner"
done
# shellcheck disable=SC2086  # one word an option
{
    "$python" "$here/ner_projection.py" gold-links $aligners
    "$python" "$here/filter_noise.py" $aligners
    for language in es de ro; do
        $weft symmetrize "$silver/$language.fwd" "$silver/$language.rev" --method intersection >"$links"
        "$python" "$here/lexicon_precision.py" --words "$words/$language.tsv" --links "$links" --lines "$lines"
        for aligner in "$@"; do
            "$python" "$here/lexicon_precision.py" --words "$words/$language.tsv" --aligner "$aligner" --lines "$lines"
        done
    done
    "$python" "$here/ner_projection.py" transfer --words "$words" --silver "$silver" $aligners
}
