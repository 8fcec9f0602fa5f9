#!/usr/bin/env bash
# scipy.signal.convolve takes every array that is not NumPy's for an array of integers.
#
# One would expect: with SCIPY_ARRAY_API=1 a convolution of floats gives what the same call gives with NumPy's arrays; a
# NaN in a signal spreads to the elements that it reaches.
# What happens: the choice between "direct" and "fft" first asks whether the arrays are integers whose products need more
# than 53 bits. For an array of any other library the answer to "is it one of these dtypes" is yes, whatever its dtype. So
# floats are converted with int(): a NaN is a ValueError, an infinity an OverflowError, large floats are computed directly
# where NumPy's go through Fourier transforms, and libraries that record or delay computation fail in int().
#
# Seen with SciPy 1.17.1, array-api-strict 2.6.1 and NumPy 2.4.6.
#
# Why it matters: gaps in measured signals are NaNs; code that was tested with NumPy's arrays stops with another library's.
# Either method can be asked for by name, which avoids the question.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 array-api-strict==2.6.1

cat > "$folder/seen.py" <<'EOF'
import array_api_strict as xp
import numpy as np
from scipy.signal import choose_conv_method, convolve

signal, kernel = np.array([1.0, np.nan, 2.0, 4.0]), np.array([0.5, 0.5])
print("NumPy:", convolve(signal, kernel))
seen = []
for name, number in (("NaN", np.nan), ("infinity", np.inf)):
    given = np.array([1.0, number, 2.0, 4.0])
    try:
        convolve(xp.asarray(given), xp.asarray(kernel))
    except (ValueError, OverflowError) as error:
        seen.append(type(error).__name__)
        print(f"another library, a signal with {name}: {seen[-1]}: {error}")
large = np.full(5000, 1e17)
chosen = choose_conv_method(large, large), choose_conv_method(xp.asarray(large), xp.asarray(large))
print("method for 5000 floats of 1e17, NumPy and another library:", *chosen)
if seen != ["ValueError", "OverflowError"] or chosen != ("fft", "direct"):
    raise SystemExit("floats are no longer taken for integers")
EOF
cd "$folder" && SCIPY_ARRAY_API=1 "$folder/venv/bin/python" seen.py
