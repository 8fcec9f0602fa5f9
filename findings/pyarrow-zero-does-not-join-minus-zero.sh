#!/usr/bin/env bash
# In pyarrow 0.0 is equal to -0.0, and yet they are different keys: rows with them do not join, and groups fall apart.
#
# One would expect: keys that compare equal are one key, as in NumPy, in pandas' own columns, in Python's dictionaries
# and SQL.
# What happens: pc.equal(0.0, -0.0) is true; Table.join finds no partner, group_by makes two groups, is_in says no and
# count_distinct counts two. All NaNs, which are not equal, are one key. pandas has two groups as soon as its column has
# an Arrow dtype.
#
# Seen with pyarrow 26.0.1, pandas 3.1.1 and NumPy 2.4.6.
#
# Why it matters: -0.0 is what rounding -0.04 gives, or 0 * -1: after binning or rounding of computed numbers one key is
# lost from a left join as a null, and totals are split in two rows that print alike.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 pandas==3.1.1 pyarrow==26.0.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

binned = np.round(np.array([0.04, -0.04, 1.0]), 1)
table = pa.table({"key": binned, "count": [1, 10, 100]})
grouped = table.group_by("key").aggregate([("count", "sum")]).to_pydict()
joined = table.join(pa.table({"key": [0.0, 1.0], "name": ["zero", "one"]}), "key").to_pydict()
frame = pd.DataFrame({"key": binned, "count": [1, 10, 100]})
own = frame.groupby("key")["count"].sum().tolist()
arrow = frame.astype({"key": "double[pyarrow]"}).groupby("key")["count"].sum().tolist()
print("keys:", binned.tolist(), "equal:", pc.equal(table["key"][0], table["key"][1]).as_py())
print("sums by key in pyarrow:", grouped)
print("sums by key in pandas:", own, "with an Arrow dtype:", arrow)
print("joined with names:", joined)
equal = pc.equal(table["key"][0], table["key"][1]).as_py()
if not equal or sorted(grouped["count_sum"]) != [1, 10, 100] or own != [11, 100] or sorted(arrow) != [1, 10, 100]:
    raise SystemExit("groups are others now")
if joined["name"].count(None) != 1 or pc.is_in(pa.array([-0.0]), pa.array([0.0])).to_pylist() != [False]:
    raise SystemExit("joins are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
