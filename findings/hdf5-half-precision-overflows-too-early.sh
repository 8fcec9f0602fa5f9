#!/usr/bin/env bash
# Single-precision numbers that NumPy rounds to 65504, the largest half, are infinite once HDF5 has written them.
#
# One would expect: assigning float32 values to a float16 data set rounds as astype does: up to 65520, the middle to the
# next power, the nearest half is 65504.
# What happens: HDF5 converts by itself, and takes everything above 65504 for too large: 65505 is written as infinity.
# Below that it rounds to the nearest, as NumPy. create_dataset(data=x, dtype="f2") goes through NumPy, so the same
# numbers are finite there.
#
# Seen with h5py 3.16.0 (HDF5 2.0.0) and NumPy 2.4.6.
#
# Why it matters: activations and images are clipped to the range of halves and stored in chunks, by assignment. An
# infinity in a file that was finite in memory turns a mean or a gradient into NaN.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 h5py==3.16.0

cat > "$folder/seen.py" <<'EOF'
import h5py
import numpy as np

x = np.array([65504, 65505, 65510, 65519, 65520], dtype=np.float32)
with h5py.File("halves.h5", "w") as file:
    data = file.create_dataset("assigned", x.shape, dtype=np.float16)
    data[:] = x
    assigned = data[:].astype(float)
    made = file.create_dataset("made", data=x, dtype=np.float16)[:].astype(float)
numpy_halves = np.array([65504.0] * 4 + [np.inf])
print("numbers:", x.tolist(), "HDF5", h5py.version.hdf5_version)
print("assigned to a data set of halves:", assigned.tolist())
print("made a data set of halves at once:", made.tolist())
if not np.array_equal(made, numpy_halves) or assigned.tolist() != [65504.0] + [np.inf] * 4:
    raise SystemExit("halves are rounded in another way now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
