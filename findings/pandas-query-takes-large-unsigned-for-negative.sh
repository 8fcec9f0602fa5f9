#!/usr/bin/env bash
# DataFrame.query misses unsigned integers above 2**63, if numexpr happens to be installed.
#
# One would expect: frame.query("key > 10") and frame[frame.key > 10] choose the same rows; numexpr, an optional
# dependency, only makes it faster.
# What happens: numexpr has no unsigned 64-bit integers, and since it takes them at all, reads them as signed ones:
# 2**63 + 5 is below 0. The rows are missing from query, and eval("key / 2") is negative. With engine="python", or in an
# environment without numexpr, all is right. numexpr alone does the same, without a warning.
#
# Seen with pandas 3.1.1, numexpr 2.14.2 and NumPy 2.4.6.
#
# Why it matters: hashes, identifiers of objects and events, and counters of hardware are uint64, half of them above
# 2**63. A filter drops rows or not, depending on whether some other package brought numexpr along.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 pandas==3.1.1 numexpr==2.14.2

cat > "$folder/seen.py" <<'EOF'
import numexpr
import numpy as np
import pandas as pd

frame = pd.DataFrame({"key": np.array([2**63 + 5, 20], dtype="uint64")})
chosen = frame.query("key > 10")["key"].tolist()
python = frame.query("key > 10", engine="python")["key"].tolist()
plain = frame[frame["key"] > 10]["key"].tolist()
half = frame.eval("key / 2").tolist()
alone = numexpr.evaluate("key + 0", {"key": frame["key"].to_numpy()})
print("query:", chosen)
print("query with engine='python':", python, "a mask:", plain)
print("eval of key / 2:", half)
print("numexpr alone, key + 0:", alone.tolist(), alone.dtype)
if chosen != [20] or python != plain or plain != [2**63 + 5, 20] or not half[0] < 0 or not alone[0] < 0:
    raise SystemExit("unsigned integers are taken in another way now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
