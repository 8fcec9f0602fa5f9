#!/usr/bin/env bash
# numba-cuda compiles no kernel with NumPy 2.5: it looks for np.row_stack, which NumPy 2.5 has no more.
#
# One would expect: packages that are installed together without a word of their versions work together; numba-cuda asks
# for no NumPy below 2.5, and can be imported with it, and so can Numba.
# What happens: the first kernel loads the module that knows NumPy's functions, among them np.row_stack, an alias of
# np.vstack that was deprecated in NumPy 2.0. The first compilation raises AttributeError, and so does each one after it.
#
# Seen with numba-cuda 0.30.4, Numba 0.68.1 and NumPy 2.5.5 on Python 3.12; with NumPy 2.4.6 the compilation goes on to
# the compiler of CUDA, which this script does not install. No GPU is needed to see it.
#
# Why it matters: the import succeeds, so that nothing is seen where a program starts, nor on a machine without a GPU.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.12 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.5.5 numba==0.68.1 numba-cuda==0.30.4

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from numba import cuda


def double(x):
    x[0] *= 2


def found():
    try:
        cuda.compile_ptx(double, "void(float64[:])", cc=(9, 0))
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return "compiled"


results = [found(), found()]
print(f"NumPy {np.__version__}:", *results, sep="\n  ")
if not all("row_stack" in result for result in results):
    raise SystemExit("kernels are compiled with this NumPy now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6
if "$folder/venv/bin/python" seen.py > "$folder/before" 2> "$folder/errors"; then
    echo "NumPy 2.4.6 has the same error now" >&2
    exit 1
fi
echo "the same with NumPy 2.4.6, where row_stack is not the trouble:"
cat "$folder/before"
