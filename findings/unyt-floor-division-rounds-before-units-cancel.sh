#!/usr/bin/env bash
# In unyt, 1 m // 30 cm is 0, and 30 cm // 1 m is more than 0.
#
# One would expect: x // y is the floor of x / y, a number without a unit: 3 for 1 m and 30 cm, as Astropy says too, and
# 0 for 30 cm and 1 m. x / y is right, and so is the remainder x % y, 0.1 m.
# What happens: the numbers are divided and rounded as they are, 1 // 30 = 0, and the factor of the units is put on
# afterwards: 250 cm // 1 m is 2.5, which is no whole number. np.floor_divide does the same; np.divmod gives a quotient
# in metres, and the wrong remainder in addition, 1 m.
#
# Seen with unyt 3.2.0, Astropy 8.0.2 and NumPy 2.4.6.
#
# Why it matters: the count of cells, samples or turns is such a quotient. It is 0 or a fraction where units differ, and
# nothing is raised; a fraction as an index is cut to a wrong one.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 unyt==3.2.0 astropy==8.0.2

cat > "$folder/seen.py" <<'EOF'
import astropy.units as u
import numpy as np
import unyt

wrong = []
for number, unit, divisor, other in ((1.0, "m", 30.0, "cm"), (30.0, "cm", 1.0, "m"), (250.0, "cm", 1.0, "m"),
                                     (7.0, "m", 2.0, "m")):
    x, y = unyt.unyt_array([number], unit), unyt.unyt_array([divisor], other)
    quotient, remainder = float((x // y)[0]), (x % y)[0]
    right = np.floor(float((x / y)[0]))
    by_astropy = float((number * u.Unit(unit)) // (divisor * u.Unit(other)))
    print(f"{number} {unit} // {divisor} {other} = {quotient}, right {right}, Astropy {by_astropy};",
          f"% is {remainder}, np.divmod {np.divmod(x, y)}")
    if by_astropy != right or not np.isclose(float((right * y[0] + remainder - x[0]).to_value("m")), 0, atol=1e-12):
        raise SystemExit("remainders are others now")
    if float(np.floor_divide(x, y)[0]) != quotient:
        raise SystemExit("the function and the operator differ now")
    wrong.append(abs(quotient - right))
print("errors:", wrong)
if not (wrong[0] == 3 and wrong[1] > 0.2 and wrong[2] == 0.5 and wrong[3] == 0):
    raise SystemExit("floor division is another one now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
