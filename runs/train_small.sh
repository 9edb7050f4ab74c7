#!/bin/sh
# The reference training of the shipped weights: resumes where it stopped, in the background beside other work.
# Hours and preset may be given: runs/train_small.sh small-high 6
set -eu
cd "$(dirname "$0")/.."
PRESET=${1:-small-low}
HOURS=${2:-8}
OUT=runs/out/$PRESET
mkdir -p "$OUT"
# A run that was committed in its small form (runs/<preset>.safetensors) is picked up if there is no newer one here.
if [ ! -f "$OUT/last.json" ] && [ -f "runs/$PRESET.safetensors" ]; then
    cp "runs/$PRESET.safetensors" "$OUT/last.safetensors"
    cp "runs/$PRESET.json" "$OUT/last.json"
fi
# The largest relations of four columns have 85 coefficients (model/relations.py), a quadratic in ten columns 66.
POINTS=96 REUSE=2 RATE=7e-4
case $PRESET in *-high) POINTS=128 REUSE=3 RATE=1e-3 ;; esac
OMP_NUM_THREADS=1 nice -n 15 .venv/bin/unisymnet train --preset "$PRESET" --hours "$HOURS" --out "$OUT" --seed 7 \
    --points $POINTS --reuse $REUSE --rate $RATE --noise 0.1 --noisy 0.25 \
    >> "$OUT/train.out" 2>&1
