#!/usr/bin/env bash
# PaddlePaddle's gradient of the imaginary part of pow(z, w) has the wrong sign, and prod(z) has a conjugate one.
#
# One would expect: z[0] * z[1], cumprod(z)[-1] and prod(z) are one number and have one gradient, and pow(z, w) has that of
# expm1(w * log(z)).
# What happens: the gradient of the real part of prod(z) is the conjugate of that of the product, so a step along it goes
# the other way in the imaginary part; that of the imaginary part is minus the conjugate. Of pow(z, w) with two tensors
# the real part has the right gradient and the imaginary part its negative; pow(z, 2.0) is right in both. That of acosh
# has the wrong sign where the real part is negative, as if its derivative were 1 / sqrt(z**2 - 1) there.
#
# Seen with PaddlePaddle 3.3.1; the right gradients are differences in the real and in the imaginary direction.
#
# Why it matters: transfer functions, phasors and quantum gates are products of complex numbers, and a loss of their
# absolute value mixes both parts. For real numbers all is right, and for complex ones the length of each gradient is, so
# descent goes sideways or uphill.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 paddlepaddle==3.3.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import paddle


def gradient(function, part, z):
    """The gradient of the real or imaginary part, as PaddlePaddle finds it."""
    x = paddle.to_tensor(z)
    x.stop_gradient = False
    part(function(x)).sum().backward()
    return x.grad.numpy()


def differences(function, part, z, step=1e-6):
    """The same by differences: in the real direction, plus i times in the imaginary one."""
    found = np.zeros_like(z)
    for i in range(z.size):
        for unit in (1, 1j):
            ends = []
            for sign in (1, -1):
                moved = z.copy()
                moved[i] += sign * step * unit
                ends.append(float(part(function(paddle.to_tensor(moved))).sum()))
            found[i] += unit * (ends[0] - ends[1]) / (2 * step)
    return found


functions = {
    "z[0] * z[1]": lambda z: z[0] * z[1],
    "cumprod(z)[-1]": lambda z: paddle.cumprod(z, dim=0)[-1],
    "prod(z)": paddle.prod,
    "expm1(z[1] * log(z[0]))": lambda z: paddle.expm1(z[1] * paddle.log(z[0])),
    "pow(z[0], z[1])": lambda z: paddle.pow(z[0], z[1]),
    "pow(z, 2.0)": lambda z: paddle.pow(z, 2.0),
    "acosh(z)": paddle.acosh,
    "acosh(-z)": lambda z: paddle.acosh(-z),
}
z, seen = np.array([1.0 + 2.0j, 1.3 - 0.7j]), {}
for name, function in functions.items():
    for part in (paddle.real, paddle.imag):
        found, right = gradient(function, part, z), differences(function, part, z)
        words = ("right", right), ("conjugate", right.conj()), ("negative", -right), ("minus the conjugate", -right.conj())
        word = next((word for word, other in words if np.allclose(found, other, rtol=1e-4)), "another")
        seen[name] = *seen.get(name, ()), word
        print(f"{part.__name__} of {name}: {found.round(4).tolist()}, by differences {right.round(4).tolist()}: {word}")
right = [name for name, words in seen.items() if words == ("right", "right")]
if right != [name for name in functions if name not in ("prod(z)", "pow(z[0], z[1])", "acosh(-z)")]:
    raise SystemExit("other gradients are right now")
if seen["prod(z)"] != ("conjugate", "minus the conjugate") or seen["pow(z[0], z[1])"] != ("right", "negative"):
    raise SystemExit("products have other wrong gradients now")
if seen["acosh(-z)"] != ("negative", "negative"):
    raise SystemExit("acosh has other wrong gradients now")
EOF
cd "$folder" && "$folder/venv/bin/python" -W ignore seen.py
