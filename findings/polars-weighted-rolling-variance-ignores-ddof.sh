#!/usr/bin/env bash
# Weights of 1 change the rolling variance of polars by a third.
#
# One would expect: rolling_var(3, weights=[1, 1, 1]) is rolling_var(3), and `ddof` means what it means without
# weights: "the divisor for a length N window is N - ddof", 1 if nothing is said.
# What happens: with weights the variance is that of the population, whatever ddof is: of 1, 2, 4 it is 1.556 for ddof
# 0, 1 and 2, and without weights 1.556, 2.333 and 4.667. rolling_std does the same. rolling_mean, rolling_sum and
# rolling_quantile with equal weights agree with those without.
#
# Seen with polars 2.1.0.
#
# Why it matters: whoever adds weights to a volatility, or takes them away, compares numbers that differ by the factor
# sqrt(N / (N - 1)): 22 % of a standard deviation for windows of 3, 2.6 % for 20.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet polars==2.1.0

cat > "$folder/seen.py" <<'EOF'
import polars as pl

x = pl.Series([1.0, 2.0, 4.0])
ones = [1.0, 1.0, 1.0]
without, weighted = [], []
for ddof in (0, 1, 2):
    without.append(x.rolling_var(3, ddof=ddof)[2])
    weighted.append(x.rolling_var(3, weights=ones, ddof=ddof)[2])
    print(f"ddof={ddof}: rolling_var {without[-1]:.6f}, with weights of 1 {weighted[-1]:.6f}")
print("rolling_std:", x.rolling_std(3)[2], "with weights of 1:", x.rolling_std(3, weights=ones)[2])
mean, mean_of_ones = x.rolling_mean(3)[2], x.rolling_mean(3, weights=ones)[2]
print("rolling_mean:", mean, "with weights of 1:", mean_of_ones)
if max(weighted) - min(weighted) > 1e-12 or abs(weighted[0] - without[0]) > 1e-12 or abs(mean - mean_of_ones) > 1e-12:
    raise SystemExit("weights are taken into account in another way now")
if abs(without[1] - 7 / 3) > 1e-12 or abs(weighted[1] - 14 / 9) > 1e-12:
    raise SystemExit("the variances are others now")
EOF
"$folder/venv/bin/python" "$folder/seen.py"
