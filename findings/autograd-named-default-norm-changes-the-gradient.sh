#!/usr/bin/env bash
# Naming the default norm of a Fourier transform changes its gradient in autograd, by the number of points.
#
# One would expect: np.fft.rfft(x) and np.fft.rfft(x, norm="backward") are the same function, for "backward" is NumPy's
# name of the default; so they have the same gradient, and "forward" has one that fits its values.
# What happens: the rules of the real transforms know "ortho", and take "backward" and "forward" for no scaling at all.
# The gradient of rfft of n points with the named default is 1/n of the right one, that of irfft n times too large; with
# "forward" it is the other way round. fft and ifft, rfft without norm, and "ortho" are right.
#
# Seen with autograd 1.9.1 and NumPy 2.4.6; differences of the function itself are the reference.
#
# Why it matters: whoever writes out the norm, so that readers need not remember it, has another weight on the spectral
# term of a loss than the values say: the minimum is at another place, and nothing else is odd.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 autograd==1.9.1

cat > "$folder/seen.py" <<'EOF'
import autograd.numpy as np
from autograd import grad

x, step = np.array([1.0, -3.0, 2.0, 0.5]), 1e-6
weights = np.array([1.0, 2.0, -1.0, 4.0, 0.3, 0.7])
ratios = {}
for name in ("rfft", "irfft"):
    transform = getattr(np.fft, name)
    for norm in (None, "backward", "ortho", "forward"):

        def function(x, transform=transform, norm=norm):
            y = np.real(transform(x, norm=norm))
            return np.sum(y * weights[: y.shape[0]])

        right = np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(4)])
        ratios[name, norm] = round(float(np.linalg.norm(grad(function)(x)) / np.linalg.norm(right)), 6)
        print(f"{name}, norm={norm!r}: gradient over differences {ratios[name, norm]}")
expected = [1.0, 0.25, 1.0, 4.0, 1.0, 6.0, 1.0, 0.166667]
if list(ratios.values()) != expected:
    raise SystemExit("the gradients are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
