#!/usr/bin/env bash
# scipy.stats.multivariate_t is wrong with many degrees of freedom, and has no density with infinitely many.
#
# One would expect: Student's distribution becomes the normal one; scipy.stats.t is within 1e-11 of it at 1e10 degrees of
# freedom, and the documentation of multivariate_t has df=inf for the limit.
# What happens: logpdf is a difference of logarithms of gamma functions, which cancel: its error is 5e-4 at 1e12 degrees
# of freedom, 0.06 at 1e14, and at 1e16 the density is 24000 times too large. With df=inf logpdf of one point has the
# shape (1,), not (), and pdf raises "'NoneType' object has no attribute 'log_pdet'", though pdf of a frozen distribution
# is right.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: a fit of the degrees of freedom to data that are normal runs to large numbers, where the noise of the
# likelihood has the size of the differences that it compares; beyond, the likelihood rises without end.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import scipy
from scipy import stats

print("SciPy", scipy.__version__)
x, mean, matrix = [0.3, 1.0, -2.0], np.zeros(3), np.eye(3)
normal = stats.multivariate_normal(mean, matrix)
exact = normal.logpdf(x)
errors = {}
for df in (1e8, 1e10, 1e12, 1e14, 1e16, np.inf):
    found = np.asarray(stats.multivariate_t.logpdf(x, mean, matrix, df))
    errors[df] = float(np.abs(found - exact).max())
    of_one = abs(stats.t.logpdf(0.3, df) - stats.norm.logpdf(0.3))
    print(f"df={df:g}: multivariate_t.logpdf off by {errors[df]:.1e}, shape {found.shape}; t.logpdf off by {of_one:.1e}")


try:
    pdf = stats.multivariate_t.pdf(x, mean, matrix, np.inf)
except AttributeError as error:
    pdf = error
print("the density of the normal distribution is", normal.pdf(x), "and that with df=inf:", repr(pdf))
print("that of a frozen distribution:", stats.multivariate_t(mean, matrix, np.inf).pdf(x))
is_far = errors[1e12] > 1e-4 and errors[1e14] > 1e-2 and errors[1e16] > 5 and errors[np.inf] < 1e-14
if not (is_far and isinstance(pdf, AttributeError)):
    raise SystemExit("multivariate_t is nearer to the normal distribution now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
