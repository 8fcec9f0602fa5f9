#!/usr/bin/env bash
# In pint, 1 m % 30 cm is 0.1 m, and np.mod of the same quantities is 1 m.
#
# One would expect: np.mod(x, y), np.remainder and np.floor_divide are x % y and x // y, as for arrays, and a function
# converts quantities of other units or raises, as np.add, np.maximum, np.clip and np.interp convert.
# What happens: np.mod, np.remainder and np.fmod of metres and centimetres take the numbers as they are and say metres:
# 1 mod 30. np.floor_divide(1 m, 30 cm) is 0 m/cm, which converts to 0, while x // y is 3. np.sum(x, initial=30 cm) adds
# 30 m, np.diff(x, append=30 cm) and np.ediff1d(x, to_end=30 cm) append 30 m.
#
# Seen with pint 0.25.3 and NumPy 2.4.6.
#
# Why it matters: positions in millimetres are wrapped into a box in metres, times in hours into days; a program that
# was written with % changes its numbers when np.mod takes its place, and the units of the result look right.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 pint==0.25.3

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import pint

ureg = pint.UnitRegistry()
x, y = ureg.Quantity(np.array([1.0, 2.5]), "m"), ureg.Quantity(np.array([30.0, 40.0]), "cm")
same = y.to("m")
programs = {
    "x % y": lambda y: x % y,
    "x // y": lambda y: (x // y).to(""),
    "np.add": lambda y: np.add(x, y),
    "np.maximum": lambda y: np.maximum(x, y * 5),
    "np.mod": lambda y: np.mod(x, y),
    "np.remainder": lambda y: np.remainder(x, y),
    "np.fmod": lambda y: np.fmod(x, y),
    "np.floor_divide": lambda y: np.floor_divide(x, y).to(""),
    "np.sum(x, initial=)": lambda y: np.sum(x, initial=y[0]),
    "np.diff(x, append=)": lambda y: np.diff(x, append=y[0]),
    "np.ediff1d(x, to_end=)": lambda y: np.ediff1d(x, to_end=y[0]),
}
differ = []
for name, program in programs.items():
    in_centimetres, in_metres = program(y), program(same)
    print(f"{name}: with y in centimetres {in_centimetres}, with y in metres {in_metres}")
    if in_centimetres.units != in_metres.units or not np.allclose(in_centimetres.magnitude, in_metres.magnitude):
        differ.append(name)
if differ != list(programs)[4:]:
    raise SystemExit(f"other functions depend on the unit now: {differ}")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
