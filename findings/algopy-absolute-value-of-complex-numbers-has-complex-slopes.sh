#!/usr/bin/env bash
# In ALGOPY the absolute value of the complex number (3 + 4i) x has the derivative -1.4 + 4.8i in x, where it is 5.
#
# One would expect: |z| is real and so is its derivative, and it is that of sqrt(real(z)**2 + imag(z)**2), which ALGOPY
# has as well.
# What happens: all coefficients of the Taylor polynomial are multiplied by sign(z), which is z / |z| for complex numbers
# in NumPy 2, and not by its conjugate, and the real part is not taken. So the derivatives of the absolute values of a
# Fourier transform are complex numbers whose real parts are wrong; only those of real coefficients are right. For real
# numbers the rule is right. The value, 5 x, is right but of a complex type.
#
# Seen with ALGOPY 0.7.2 and NumPy 2.4.6.
#
# Why it matters: magnitudes of spectra and gains of transfer functions are what is fitted and plotted, and taking the
# real part, as one does where a type is complex and the number real, gives a plausible derivative of another size.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 scipy==1.17.1 algopy==0.7.2

cat > "$folder/seen.py" <<'EOF'
import algopy
import numpy as np


def slopes(function, x):
    """The Jacobian matrix of a function of a vector, by Taylor polynomials."""
    return algopy.UTPM.extract_jacobian(function(algopy.UTPM.init_jacobian(x)))


def by_absolute(z):
    return algopy.absolute(z)


def by_parts(z):
    return algopy.sqrt(algopy.real(z) ** 2 + algopy.imag(z) ** 2)


def differences(function, x, step=1e-6):
    columns = [(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(x.size)]
    return np.array(columns).T


is_right, x = {}, np.array([1.0, 2.0, 4.0])
for name, numbers, transform in (
    ("(3 + 4i) x", lambda v: np.abs(v * (3 + 4j)), lambda v: v * (3 + 4j)),
    ("fft(x)", lambda v: np.abs(np.fft.fft(v)), algopy.fft.fft),
    ("-x", lambda v: np.abs(-v), lambda v: -v),
):
    right = differences(numbers, x)
    for way in (by_absolute, by_parts)[: 1 if name == "-x" else 2]:
        found = slopes(lambda v: way(transform(v)), x)
        is_right[name, way.__name__] = np.allclose(found, right), np.allclose(found.real, right)
        print(f"|{name}| {way.__name__}: in x[0] {found[:, 0].round(4).tolist()}, right {right[:, 0].round(4).tolist()}")
print("right, and right in the real part:", is_right)
if [name for name, (whole, _) in is_right.items() if not whole] != [("(3 + 4i) x", "by_absolute"), ("fft(x)", "by_absolute")]:
    raise SystemExit("other derivatives are wrong now")
if is_right["(3 + 4i) x", "by_absolute"][1] or is_right["fft(x)", "by_absolute"][1]:
    raise SystemExit("real parts are right now")
EOF
cd "$folder" && "$folder/venv/bin/python" -W ignore seen.py
