#!/usr/bin/env bash
# In a sparse array of SciPy a NaN is below 1, above -1, and at most and at least as large as any element of another
# one.
#
# One would expect: comparisons with NaN are false but for !=, as for dense arrays, and as A == B of sparse ones is.
# What happens: a comparison that is true for the zeros that are not stored is computed as the opposite of its opposite:
# A < 1 as not (A >= 1), A <= B as not (A > B). Both are false for a NaN, so the result is true. A > 1 and A < -1 are
# computed directly and false.
#
# Seen with SciPy 1.17.1 and NumPy 2.4.6.
#
# Why it matters: a check of bounds, (A > -1) and (A < 1), as for correlations, lets every NaN pass, whereas the dense
# array or its data attribute stops it; which of two comparisons is right depends on the sign of the bound.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1

cat > "$folder/seen.py" <<'EOF'
import operator
import warnings

import numpy as np
import scipy.sparse

warnings.simplefilter("ignore", scipy.sparse.SparseEfficiencyWarning)
dense = np.array([[0.0, np.nan, 2.0]])
sparse, true = scipy.sparse.csr_array(dense), []
for bound in (1, -1, 0):
    for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq):
        found, right = compare(sparse, bound).toarray(), compare(dense, bound)
        assert np.array_equal(found[:, ::2], right[:, ::2]) and not right[0, 1]
        if found[0, 1]:
            true.append(f"{compare.__name__} {bound}")
print("true for a NaN compared with a number:", true)
pairs = [c.__name__ for c in (operator.lt, operator.le, operator.gt, operator.ge) if c(sparse, sparse).toarray()[0, 1]]
print("true for a NaN compared with the same in another sparse array:", pairs)
if true != ["lt 1", "le 1", "gt -1", "ge -1", "le 0", "ge 0"] or pairs != ["le", "ge"]:
    raise SystemExit("comparisons are others now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
