#!/usr/bin/env bash
# In uncertainties 6.0 +/- 0.1 modulo 2.0 +/- 0.001 has an uncertainty of 33 554.
#
# One would expect: x % y is x - y * floor(x / y), so its derivative in y is -floor(x / y), which is -3 at 6 and 2, or from the
# other side -2; the uncertainty is that of x and a little. At 6.5 it is so.
# What happens: where x is a multiple of y the derivative in y is 33 554 429.5: a difference is taken over a step of 6e-8 across
# the jump of the remainder. x // y, which jumps there, too, has the derivative 0 on both sides, and
# x - y * (x // y), the same number, has the right uncertainty. The derivative in x is 1.
#
# Seen with uncertainties 3.2.3.
#
# Why it matters: a phase is the remainder of a time and a measured period, an angle that of a full turn, and the first of a
# series, or a calibration point, lies on a multiple. One such value has all the weight of nothing in a
# weighted mean, and an error bar that no plot shows.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet uncertainties==3.2.3

cat > "$folder/seen.py" <<'EOF'
import math

from uncertainties import ufloat

seen = {}
for place in (6.5, 6.0, -4.0, 1e-9):
    x, y = ufloat(place, 0.1), ufloat(2.0, 0.001)
    remainder, by_hand = x % y, x - y * (x // y)
    seen[place] = remainder.derivatives[y], by_hand.derivatives[y], remainder.std_dev, by_hand.std_dev
    print(f"{place:g}: remainder {remainder.nominal_value:g} +/- {remainder.std_dev:g}, derivative in y {seen[place][0]:g}; "
          f"x - y * (x // y) {by_hand.nominal_value:g} +/- {by_hand.std_dev:g}, {seen[place][1]:g}; "
          f"right {-math.floor(place / 2)}")
    if remainder.nominal_value != place % 2 or seen[place][1] != -math.floor(place / 2) or remainder.derivatives[x] != 1:
        raise SystemExit("other numbers have changed")
if abs(seen[6.5][0] + 3) > 1e-6 or abs(seen[1e-9][0]) > 1e-6:
    raise SystemExit("remainders between multiples have other derivatives now")
if abs(seen[6.0][0]) < 1e6 or abs(seen[-4.0][0]) < 1e6:
    raise SystemExit("remainders of multiples have other derivatives now")
EOF
"$folder/venv/bin/python" -W ignore "$folder/seen.py"
