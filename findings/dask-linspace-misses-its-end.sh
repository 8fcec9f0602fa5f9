#!/usr/bin/env bash
# dask's linspace(0, 1, 50) does not end at 1.
#
# One would expect: with endpoint=True the last number is the given one, exactly, as NumPy's linspace takes care of.
# What happens: the numbers are start + step * i, chunk by chunk, so the last one may be off: 1 - 1e-16 for 50, 99, 104
# and 108 points in one chunk. It depends on the chunks as well: 50 points in chunks of 7 end at 1 - 2e-16, and in
# chunks of 10 more than a third of the numbers of points below 120 miss the end.
#
# Seen with dask 2026.8.0 and NumPy 2.4.6.
#
# Why it matters: the end belongs to an interval: interpolation on the grid gives NaN or extrapolates at 1, arccos and
# log1p(-x) are at their singularities there, and a histogram with these edges drops the largest value.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 dask[array]==2026.8.0

cat > "$folder/seen.py" <<'EOF'
import dask.array as da
import numpy as np

ends = {chunks: float(da.linspace(0, 1, 50, chunks=chunks).compute()[-1]) for chunks in (50, 7)}
missed = [n for n in range(2, 120) if da.linspace(0, 1, n, chunks=10).compute()[-1] != 1.0]
print("the last of linspace(0, 1, 50), by chunks:", ends, "NumPy:", float(np.linspace(0, 1, 50)[-1]))
print("numbers of points below 120 that miss the end in chunks of 10:", missed)
counts = np.histogram([0.5, 1.0], bins=da.linspace(0, 1, 50, chunks=7).compute())[0].sum()
print("of the values 0.5 and 1 a histogram with these edges counts", counts)
assert all(np.linspace(0, 1, n)[-1] == 1.0 for n in range(2, 120))
if ends[50] == 1.0 or ends[7] == 1.0 or len(missed) < 10 or counts != 1:
    raise SystemExit("linspace ends elsewhere now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
