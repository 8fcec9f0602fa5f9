#!/usr/bin/env bash
# Astropy's Hermite surfaces are other polynomials from the second degree in y on, and a linear fit misses exact data.
#
# One would expect: Hermite2D(2, 2) is the sum of c_ij H_i(x) H_j(y), as its documentation says, as Legendre2D and
# Chebyshev2D are, and as NumPy's hermval2d. A linear fit of data that such a sum made goes through the data.
# What happens: the recurrence of the polynomials in y counts on from those in x, so H_2(y) = 4 y^2 - 2 becomes
# 4 y^2 - 8 for degree 2 in x, and 4 y^2 - 10 for degree 3. fit_deriv, which LinearLSQFitter solves with, has the right
# polynomials: fitted to exact data the coefficients are right, and the model with them does not meet the data. Where
# the data come from the model itself, the fitted coefficients are wrong instead. Degree 1 in y shows nothing.
#
# Seen with Astropy 8.0.2 and NumPy 2.4.6.
#
# Why it matters: such surfaces are distortions and wavelength solutions of spectrographs; a fit ends without a warning
# and is off by a multiple of its coefficients. Fitters by differences hide it, for they fit the wrong basis.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 astropy==8.0.2

cat > "$folder/seen.py" <<'EOF'
import numpy as np
from astropy.modeling import fitting, models
from numpy.polynomial import chebyshev, hermite, legendre

y, x = np.mgrid[-1:1:9j, -1:1:9j]
coefficients = np.array([[1.0, -0.5, 0.25], [0.5, 0.75, -1.0], [0.25, 1.5, 0.5]])


def misses(model, values, degree):
    """How far a model is from NumPy's sum, and how far a linear fit of that sum is from it."""
    c = coefficients[:, : degree + 1]
    made = model(2, degree, **{f"c{i}_{j}": c[i, j] for i in range(3) for j in range(degree + 1)})
    exact = values(x, y, c)
    fitted = fitting.LinearLSQFitter()(model(2, degree), x, y, exact)
    found = max(abs(getattr(fitted, f"c{i}_{j}").value - c[i, j]) for i in range(3) for j in range(degree + 1))
    return np.abs(made(x, y) - exact).max(), np.abs(fitted(x, y) - exact).max(), found


seen = {}
for model, values in (
    (models.Hermite2D, hermite.hermval2d),
    (models.Legendre2D, legendre.legval2d),
    (models.Chebyshev2D, chebyshev.chebval2d),
):
    for degree in (1, 2):
        seen[model.__name__, degree] = misses(model, values, degree)
        errors = "model {:.1e}, fit {:.1e}, coefficients of the fit {:.1e}".format(*seen[model.__name__, degree])
        print(model.__name__, "of degrees 2 and", degree, "against NumPy:", errors)
second = {name: 1.0 if name == "c0_2" else 0.0 for name in models.Hermite2D(2, 2).param_names}
at_zero = float(models.Hermite2D(2, 2, **second)(0.0, 0.0))
print("H_2(0), which is -2, as a surface of degrees 2 and 2:", at_zero)
wrong = seen.pop(("Hermite2D", 2))
if wrong[0] < 1 or wrong[1] < 1 or wrong[2] > 1e-12 or at_zero != -8.0:
    raise SystemExit("surfaces of Hermite polynomials are others now")
if max(max(numbers) for numbers in seen.values()) > 1e-12:
    raise SystemExit("other surfaces are wrong now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
