#!/usr/bin/env bash
# A row of a matrix product has other bits, depending on how many rows are multiplied with it.
#
# One would expect: row i of A @ B is computed from row i of A and from B alone, so (A[:1] @ B) and (A @ B)[:1] are equal,
# if not in exact arithmetic then at least in the same program on the same machine.
# What happens: OpenBLAS has another kernel for one row (a product of a vector and a matrix) than for several, and other
# edges for some numbers of rows. They add in another order, so the last bits differ: here of 1, 3 and 5 rows from those of
# 64, and not of 2, 4, 8 and 16.
#
# Seen with NumPy 2.4.6 (its wheels have OpenBLAS 0.3). The kernels are those of a processor: the script asks OpenBLAS for
# the ones of Haswell, which any x86-64 processor with AVX2 runs; on others there is nothing to be seen, and it ends with
# a word about that.
#
# Why it matters: batched and single evaluation of a network or a solver differ, caches of results by row are not exact, and
# a test that compares a batch with its members for equality passes or fails with the size of the batch.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6
export OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1
cat > "$folder/seen.py" <<'EOF'
import platform
import sys

import numpy as np

extensions = np.show_config("dicts")["SIMD Extensions"]
known = {*extensions["baseline"], *extensions["found"]}
if platform.machine() not in ("x86_64", "AMD64") or not known & {"AVX2", "X86_V3"}:
    print("no processor with AVX2: not looked at")
    sys.exit(0)
rng = np.random.default_rng(0)
a, b = rng.standard_normal((64, 256)), rng.standard_normal((256, 256))
whole = a @ b
equal = {n: bool(np.array_equal(a[:n] @ b, whole[:n])) for n in (1, 2, 3, 4, 5, 8, 16, 64)}
for n, same in equal.items():
    difference = np.abs(a[:n] @ b - whole[:n]).max()
    print(f"the first {n:2} rows alone: {'the same bits' if same else f'differ by up to {difference:.1e}'}")
if equal[1] and equal[3] and equal[5]:
    raise SystemExit("rows have the same bits in all products now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
