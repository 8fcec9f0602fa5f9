#!/usr/bin/env bash
# safetensors writes the conjugate of a tensor without conjugating it.
#
# One would expect: what is loaded is what was saved, as with torch.save, or an error names what cannot be saved.
# What happens: z.conj() of PyTorch shares the memory of z and has a bit that says so. It is contiguous, so safetensors
# takes it as it is and writes the bytes in memory: 1 - 2i comes back as 1 + 2i. So does the complex conjugate of a
# parameter, and z.mH of a column or a row. torch.save of the same tensor keeps the conjugate.
#
# Seen with safetensors 0.8.0 and PyTorch 2.14.1.
#
# Why it matters: steering vectors, wave functions, filters in the frequency domain and weights of complex networks are
# kept conjugated by whoever computed them; the file has the other sign of each phase.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-compile numpy==2.4.6 torch==2.14.1 safetensors==0.8.0

cat > "$folder/seen.py" <<'EOF'
import io

import safetensors.torch
import torch

conjugate = torch.tensor([1 + 2j, 3 - 4j]).conj()
loaded = safetensors.torch.load(safetensors.torch.save({"z": conjugate}))["z"]
file = io.BytesIO()
torch.save(conjugate, file)
file.seek(0)
print("saved:", conjugate.tolist(), "contiguous:", conjugate.is_contiguous())
print("loaded by safetensors:", loaded.tolist())
print("loaded by torch.load:", torch.load(file).tolist())
resolved = safetensors.torch.load(safetensors.torch.save({"z": conjugate.resolve_conj()}))["z"]
print("saved after resolve_conj:", resolved.tolist())
if not torch.equal(loaded, conjugate.conj()) or not torch.equal(resolved, conjugate):
    raise SystemExit("conjugates are saved in another way now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
