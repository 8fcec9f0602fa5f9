#!/usr/bin/env bash
# num_dual's spherical Bessel function j2 is 0 at 0, -1 at 1e-8 and -0.0074 at 1e-7; it is x**2 / 15 there.
#
# One would expect: a function that is offered for derivatives is smooth: j2(x) is x**2 / 15 near 0, as in SciPy.
# What happens: only numbers below 2e-16 are taken for small. Above, j1 and j2 are formed by differences that cancel
# and are divided by powers of x: j2 has no right digit from 1e-4 down, and derivatives have fewer. At 1e-4 the second
# derivative of j2 is 20.7 instead of 2/15, and the third one of j1 is -16.6 instead of -0.2; at 1e-6 the slope of j2
# is 166. At 0 itself values and second derivatives are right, and the third derivative of j1 is 0 instead of -1/5.
#
# Seen with num_dual 0.15.1, the Python package; the right values are the first terms of the series.
#
# Why it matters: spherical Bessel functions are the radial parts of scattering and of form factors, where small
# arguments are the limit of small angles and of long waves. A value of -1 for 7e-18 is no matter of digits.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 num-dual==0.15.1

cat > "$folder/seen.py" <<'EOF'
import num_dual
import scipy.special


def derivatives(name, x):
    """The value and the derivatives up to the third of num_dual's function."""
    return num_dual.third_derivative(lambda v: getattr(v, name)(), x)


values, slopes = {}, {}
for x in (0.0, 1e-8, 1e-7, 1e-6, 1e-4, 1e-2, 0.5):
    values[x], slopes[x] = derivatives("sph_j2", x)[:2]
    right = scipy.special.spherical_jn(2, x), scipy.special.spherical_jn(2, x, derivative=True)
    print(f"j2({x:g}) = {values[x]:.6g}, right {right[0]:.6g}; slope {slopes[x]:.6g}, right {right[1]:.6g}")
    if x in (0.0, 0.5) and abs(values[x] - right[0]) > 1e-13:
        raise SystemExit("j2 has other values elsewhere now")
bend, third = derivatives("sph_j2", 1e-4)[2], derivatives("sph_j1", 1e-4)[3]
at_zero = derivatives("sph_j1", 0.0)
print(f"at 1e-4: j2'' = {bend:.6g}, right {2 / 15:.6g}; j1''' = {third:.6g}, right -0.2; j1 at 0: {at_zero}")
if values[1e-8] != -1.0 or abs(values[1e-7]) < 1e-3 or abs(values[1e-6]) < 1e-6 or slopes[1e-6] < 1:
    raise SystemExit("j2 has other values near 0 now")
if abs(bend - 2 / 15) < 1 or abs(third + 0.2) < 1 or at_zero[3] != 0.0:
    raise SystemExit("the functions have other derivatives near 0 now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
