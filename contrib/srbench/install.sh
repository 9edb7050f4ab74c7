#!/usr/bin/env bash
# Before the package is on an index, SRBench can install it from a wheel: WHEEL=/path/to/unisymnet-0.2.0-py3-none-any.whl
set -euo pipefail
if [ -n "${WHEEL:-}" ]; then
  pip install "$WHEEL"
else
  pip install -r "$(dirname "$0")/requirements.txt"
fi
# Compiles the numerical kernels now, because the first fit of an installation would otherwise do it on SRBench's clock.
unisymnet demo --max-time 2
