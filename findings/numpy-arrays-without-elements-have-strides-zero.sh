#!/usr/bin/env bash
# An array of NumPy without elements has the strides 0, whatever its shape.
#
# One would expect: a freshly made array of shape (0, 3) in C order has the strides of its shape, (24, 8), as one of shape
# (1, 3) has, and as a slice without elements keeps those of the array that it is taken from.
# What happens: np.zeros((0, 3)).strides is (0, 0), and so is that of (3, 0) and of a copy, while np.ones((4, 3))[:0] has
# (24, 8). All are C-contiguous by their flags.
#
# Seen with NumPy 2.4.6.
#
# Why it matters: code that passes strides to compiled loops, to LAPACK ("the leading dimension is strides[0] // itemsize",
# which must be at least 1) or to another library through DLPack or the buffer protocol gets 0 for an empty batch, and
# with it a division by zero or an argument that is refused, in a case that tests seldom have.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6

cat > "$folder/seen.py" <<'EOF'
import numpy as np

arrays = {
    "np.zeros((0, 3))": np.zeros((0, 3)),
    "np.zeros((3, 0))": np.zeros((3, 0)),
    "np.ones((4, 3))[:0]": np.ones((4, 3))[:0],
    "a copy of that": np.ones((4, 3))[:0].copy(),
    "np.zeros((1, 3))": np.zeros((1, 3)),
}
for name, array in arrays.items():
    print(f"{name:20} strides {array.strides}, C-contiguous {array.flags.c_contiguous}")
seen = [array.strides for array in arrays.values()]
if seen != [(0, 0), (0, 0), (24, 8), (0, 0), (24, 8)]:
    raise SystemExit("arrays without elements have other strides now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
