#!/usr/bin/env bash
# PyTorch rounds a double to a half in two steps, so that it gets another number than NumPy.
#
# One would expect: a conversion from float64 to float16 or bfloat16 rounds to the nearest number, once, as IEEE 754
# asks and NumPy does.
# What happens: the double is rounded to float32 first, and this to the half. Where the first step lands on the middle
# between two halves, the second goes to the even one: 1 + 2**-11 + 2**-30 lies above the middle of 1 and 1 + 2**-10 and
# becomes 1. ml_dtypes, whose bfloat16 JAX uses, does the same.
#
# Seen with PyTorch 2.14.1, NumPy 2.4.6 and ml_dtypes 0.6.0.
#
# Why it matters: weights quantised by two programs differ, so do their checksums; stochastic rounding and tests "equal
# to the nearest half" that are exact on paper fail for doubles and pass for floats.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1 ml_dtypes==0.6.0

cat > "$folder/seen.py" <<'EOF'
import ml_dtypes
import numpy as np
import torch

above = 1 + 2**-11 + 2**-30
numpy_half = float(np.float64(above).astype(np.float16))
torch_half = torch.tensor(above, dtype=torch.float64).half().item()
print("to float16, NumPy:", numpy_half, "PyTorch:", torch_half, "the next half above 1:", 1 + 2**-10)
wide = 1 + 2**-8 + 2**-30
torch_brain = torch.tensor(wide, dtype=torch.float64).bfloat16().item()
numpy_brain = float(np.float64(wide).astype(ml_dtypes.bfloat16))
print("to bfloat16, ml_dtypes:", numpy_brain, "PyTorch:", torch_brain, "nearest:", 1 + 2**-7)
numbers = 1 + 2**-11 + np.arange(1, 1024) * 2.0**-34
differ = (torch.from_numpy(numbers).half().numpy() != numbers.astype(np.float16)).sum()
print("of 1023 doubles above the middle,", differ, "differ")
if numpy_half != 1 + 2**-10 or (torch_half, torch_brain, numpy_brain) != (1.0, 1.0, 1.0) or differ != 1023:
    raise SystemExit("halves are rounded in another way now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
