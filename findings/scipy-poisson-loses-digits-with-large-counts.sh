#!/usr/bin/env bash
# Probabilities of Poisson, gamma and chi-squared variables lose digits with their size, those of binomial ones do not.
#
# One would expect: all are products of powers and factorials; SciPy's binom.pmf has 12 digits for a trillion trials,
# and poisson.pmf then has them for a mean of a trillion.
# What happens: poisson.pmf(k, k) has six digits for a billion, four for a trillion and is 4 % off for 1e14: it is the
# exponential of k log k - k - gammaln(k + 1), whose terms have up to twenty digits before they cancel. gamma.pdf and
# chi2.pdf are written in the same way.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6; Stirling's series gives the right values.
#
# Why it matters: counts of photons, ions and events of 1e9 and more are common, and a ratio of two such probabilities,
# as in a likelihood-ratio test or a Metropolis step, has the noise of both.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import math

from scipy import stats

errors = {}
for count in (10**6, 10**9, 10**12, 10**14):
    right = math.exp(-1 / (12 * count)) / math.sqrt(2 * math.pi * count)
    poisson = abs(stats.poisson.pmf(count, count) / right - 1)
    gamma = abs(stats.gamma.pdf(float(count), count + 1.0) / right - 1)
    middle = math.exp(-1 / (4 * count)) / math.sqrt(math.pi * count / 2)
    binomial = abs(stats.binom.pmf(count // 2, count, 0.5) / middle - 1)
    errors[count] = poisson, gamma, binomial
    print(f"{count:.0e}: relative error of poisson.pmf {poisson:.1e}, gamma.pdf {gamma:.1e}, binom.pmf {binomial:.1e}")
losing = all(min(errors[count][:2]) > low for count, low in ((10**9, 1e-8), (10**12, 1e-5), (10**14, 1e-3)))
if not losing or max(error for *_, error in errors.values()) > 1e-10:
    raise SystemExit("the probabilities have other digits now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
