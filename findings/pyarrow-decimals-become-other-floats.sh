#!/usr/bin/env bash
# pyarrow makes 0.30000000000000004 of the decimal 0.3.
#
# One would expect: a cast from decimal to float64 gives the nearest double, as float(Decimal("0.3")) does, and as
# pyarrow does when it reads the text 0.3.
# What happens: the digits become a double and are multiplied by a rounded power of ten, which rounds twice: of the
# decimals 0.1 to 199.9 one in three is off by a bit. Casting back to decimal(20, 17) shows it.
#
# Seen with pyarrow 26.0.1, for decimal128 and decimal256.
#
# Why it matters: prices and quantities come as decimals out of databases and Parquet files. A join or a filter `== 0.3`
# on the converted column misses rows that the same data read from CSV has, and money summed has ends of 1e-17.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet numpy==2.4.6 pyarrow==26.0.1

cat > "$folder/seen.py" <<'EOF'
import decimal

import pyarrow as pa

values = [decimal.Decimal(i) / 10 for i in range(1, 2000)]
cast = pa.array(values, pa.decimal128(20, 1)).cast(pa.float64()).to_pylist()
wide = pa.array(values, pa.decimal256(40, 1)).cast(pa.float64()).to_pylist()
text = pa.array([str(value) for value in values]).cast(pa.float64()).to_pylist()
nearest = [float(value) for value in values]
off = sum(a != b for a, b in zip(cast, nearest, strict=True))
print("decimal 0.3 as a float:", cast[2], "text 0.3 as a float:", text[2])
print("of", len(values), "tenths,", off, "are another double than the nearest one; from text none:", text == nearest)
if cast[2] != 0.30000000000000004 or text != nearest or wide != cast or off < 500:
    raise SystemExit("decimals become other floats now")
EOF
cd "$folder" && "$folder/venv/bin/python" seen.py
