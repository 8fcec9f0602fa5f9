#!/usr/bin/env bash
# The trapezoidal rule of bytes and 16-bit samples overflows, although its result is a float; Simpson's rule does not.
#
# One would expect: the integral of the samples 200 and 250 is 225; trapezoid returns a float, as simpson does.
# What happens: trapezoid, cumulative_trapezoid and romb of SciPy and np.trapezoid add neighbours in the dtype of the
# samples before they halve the sum: 450 becomes 194 in a byte, and the integral 97. Of int16 samples beyond 16383 the
# area under a positive curve is negative. Only romb warns. simpson and cumulative_simpson are right.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: images are uint8, and WAV files and most digitisers give int16: areas of peaks and energies are taken
# from these.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from scipy import integrate

pixels = np.array([200, 250, 240, 210, 220], dtype=np.uint8)
samples = np.array([20000, 30000, 25000, 28000, 21000], dtype=np.int16)
wrong = []
for rule in (np.trapezoid, integrate.trapezoid, integrate.romb, integrate.simpson):
    for data in (pixels, samples):
        found, right = float(rule(data)), float(rule(data.astype(float)))
        library = rule.__module__.split(".")[0]
        print(f"{library} {rule.__name__} of {data.dtype}: {found:.6g}, of the same as floats {right:.6g}")
        wrong.append(abs(found - right) > 1e-6)
last = float(integrate.cumulative_trapezoid(samples)[-1])
print("the last of cumulative_trapezoid of int16:", last)
if wrong != [True] * 6 + [False] * 2 or last == float(integrate.cumulative_trapezoid(samples.astype(float))[-1]):
    raise SystemExit("integrals of integers are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
