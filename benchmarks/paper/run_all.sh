#!/bin/sh
# Every table of the paper for one encoder: run_all.sh ENCODER [options of all scripts]
#
#   benchmarks/paper/run_all.sh weft-mini --untrained
#   benchmarks/paper/run_all.sh FOLDER --layer 7 --label "trial encoder" --precision bf16
#   benchmarks/paper/run_all.sh bert-base-multilingual-cased --pairs 200000 --learning-rate 2e-5 --longest 100
#
# With --untrained only what needs no training is measured. Trained models are kept (--cache), so that tables which
# share one train it once, and a table that is run again is quick. TABLES="growing layers" runs some tables only.
set -eu
here=$(dirname "$0")
encoder=$1
shift
without_training="extraction layers more_pairs growing thresholds itermax monolingual projection"
with_training="objectives supervised main_results sentence_transfer"
case " $* " in
*" --untrained "*) tables=${TABLES:-$without_training} ;;
*) tables=${TABLES:-$without_training $with_training} ;;
esac
for table in $tables; do
    printf '\n### %s\n\n' "$table"
    "${PYTHON:-python}" "$here/$table.py" --encoder "$encoder" "$@"
done
