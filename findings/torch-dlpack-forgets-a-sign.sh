#!/usr/bin/env bash
# PyTorch hands over the imaginary part of a conjugate with the wrong sign through DLPack.
#
# One would expect: np.from_dlpack(t) has the numbers that t has, or an error says that t cannot be exported.
# What happens: z.conj() only marks a tensor, and so does its imaginary part, a view whose "negative bit" says that the
# numbers in memory are to be negated. Exporting a tensor with the conjugate bit raises a BufferError. The negative bit
# is not asked for: z.conj().imag of 1 + 2i is -2 in PyTorch and +2 in NumPy, and also in a tensor that PyTorch imports
# from itself. t.numpy() of the same tensor raises.
#
# Seen with PyTorch 2.14.1 and NumPy 2.4.6.
#
# Why it matters: DLPack is the way of the array API between libraries. Phases, imaginary parts of spectra and of
# Hermitian products arrive with the wrong sign, and all their sizes are right.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1

cat > "$folder/seen.py" <<'EOF'
import numpy as np
import torch

z = torch.tensor([1 + 2j, 3 - 4j])
imaginary = z.conj().imag
print("in PyTorch:", imaginary.tolist(), "negative bit:", imaginary.is_neg())
print("in NumPy:", np.from_dlpack(imaginary).tolist())
print("in PyTorch, imported from itself:", torch.from_dlpack(imaginary).tolist())
print("in NumPy, resolved before:", np.from_dlpack(imaginary.resolve_neg()).tolist())
try:
    np.from_dlpack(z.conj())
except BufferError as error:
    print("of the conjugate itself:", error)
else:
    raise SystemExit("the conjugate is exported now")
if imaginary.tolist() != [-2.0, 4.0] or np.from_dlpack(imaginary).tolist() != [2.0, -4.0]:
    raise SystemExit("the sign arrives now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
