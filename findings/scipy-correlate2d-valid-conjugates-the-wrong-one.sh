#!/usr/bin/env bash
# scipy.signal.correlate2d conjugates the wrong operand where the second one is the larger, in mode "valid".
#
# One would expect: correlate2d(a, v) is the sum of a times the conjugate of v, as in modes "full" and "same", and as
# scipy.signal.correlate of the same arrays has it in all modes.
# What happens: in mode "valid" a second operand that is larger along all axes changes places with the first. The result
# is turned back, but not its conjugate: every element is the conjugate of the right one. Of real arrays all is well.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: a template is found in a complex image (radar, MRI, holograms) with either order of the arguments, and
# the phase of the result has the wrong sign in one of them.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from scipy.signal import correlate, correlate2d

rng = np.random.default_rng(0)
a, v = (rng.standard_normal(n) + 1j * rng.standard_normal(n) for n in ((3, 2), (6, 7)))


def by_definition():
    """The elements of mode "full", written out, and of these the ones for which a lies within v."""
    rows, columns = v.shape
    wide = np.pad(a, [(rows - 1,) * 2, (columns - 1,) * 2])
    full = [
        [(wide[i : i + rows, j : j + columns] * v.conj()).sum() for j in range(a.shape[1] + columns - 1)]
        for i in range(a.shape[0] + rows - 1)
    ]
    return np.array(full)[a.shape[0] - 1 : rows, a.shape[1] - 1 : columns]


right, found = by_definition(), correlate2d(a, v, "valid")
print("correlate is the sum:", np.allclose(correlate(a, v, "valid"), right))
print("correlate2d is the sum:", np.allclose(found, right))
print("correlate2d is its conjugate:", np.allclose(found, right.conj()))
if np.allclose(found, right) or not np.allclose(found, right.conj()):
    raise SystemExit("correlate2d no longer has the conjugate")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
