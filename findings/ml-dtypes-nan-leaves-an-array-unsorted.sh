#!/usr/bin/env bash
# One NaN leaves an array of bfloat16 unsorted, and np.sort says nothing.
#
# One would expect: np.sort puts NaNs at the end and sorts the rest, for floats of any precision; for float16 it does.
# What happens: bfloat16 and the 8-bit floats, which ml_dtypes adds to NumPy, compare with `<` alone, for which NaN is
# neither before nor after any number. [3, nan, 1, 2, nan, 0] comes back as it was; argsort, unique, partition and
# median are wrong with it.
#
# Seen with ml_dtypes 0.6.0 and NumPy 2.4.6.
#
# Why it matters: these are the dtypes of JAX's arrays on their way through NumPy. Quantiles and thresholds of
# gradients, in which a NaN is what one looks for, are those of an unsorted array; np.unique reports values several
# times.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 ml_dtypes==0.6.0

cat > "$folder/seen.py" <<'EOF'
import ml_dtypes
import numpy as np

values = [3, np.nan, 1, 2, np.nan, 0]
right = np.sort(np.array(values, dtype=np.float16)).astype(float)
print("float16:", right.tolist())
unsorted = []
for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
    x = np.array(values, dtype=getattr(ml_dtypes, name))
    found = np.sort(x).astype(float)
    places = np.argsort(x)
    print(f"{name}: sorted {found.tolist()}, argsort {places.tolist()}")
    unsorted.append(np.array_equal(found, np.array(values), equal_nan=True))
    assert np.sort(x[~np.isnan(x.astype(float))]).astype(float).tolist() == [0, 1, 2, 3]
if not all(unsorted):
    raise SystemExit("NaN is sorted to the end now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
