"""Writes the body of `numgrad.operators.special.gamma.temme.correction`, when it is run.

It is the sum over ``k`` of ``c_k(h) / a**k`` of DLMF 8.12.7, a polynomial of Chebyshev's nodes
for each ``c_k``, of the degree that the smallest ``a`` asks for.
"""

from mpmath import mp

TERMS, LEAST, WIDTH, ERROR = 60, 50, mp.mpf("0.3"), mp.mpf("2e-16")


def inverse_of_excess():
    """Return the series of ``h / m`` in ``h``, where ``h**2 / 2 == m - log1p(m)``."""
    m = [mp.zero, mp.one]
    for n in range(2, TERMS):  # from m * m' == h * (1 + m)
        known = sum(m[i] * (n + 1 - i) * m[n + 1 - i] for i in range(2, n))
        m.append((m[n - 1] - known) / (n + 1))
    r = [mp.one]
    for n in range(1, TERMS - 2):
        r.append(-sum(m[1 + j] * r[n - j] for j in range(1, n + 1)))
    return r


def gamma_series(count):
    """Return the coefficients of the exponential of Stirling's series (DLMF 5.11.3)."""
    log = [mp.zero] * (count + 2)
    for k in range(1, count // 2 + 1):
        log[2 * k - 1] = mp.bernoulli(2 * k) / (2 * k * (2 * k - 1))
    g = [mp.one]
    for n in range(1, count + 1):
        g.append(sum(j * log[j] * g[n - j] for j in range(1, n + 1)) / n)
    return g


def power_series(count):
    """Return the power series of the first functions ``c_k`` (DLMF 8.12.10 and 8.12.11)."""
    r, g = inverse_of_excess(), gamma_series(count)
    rows = [r[1:]]
    for k in range(1, count):
        last, sign = rows[-1], (-1) ** k
        rows.append([(n + 2) * last[n + 2] + sign * g[k] * r[n + 1] for n in range(len(last) - 3)])
    return rows


def fitted(row, k):
    """Return the shortest polynomial that serves."""
    for count in range(2, TERMS):
        p, error = mp.chebyfit(lambda h: mp.polyval(row[::-1], h), [-WIDTH, WIDTH], count, True)
        if error < ERROR * LEAST**k:
            return [float(c) for c in p[::-1]]


def written(p):
    """Write a polynomial by Horner's rule, a few coefficients a line."""
    text = repr(p[-1])
    for place, c in enumerate(p[-2::-1], 1):
        if place % 3 == 0:
            print(f"    y = {text}")
            text = "y"
        inner = f"({text})" if "+" in text else text
        text = f"{c!r} + h * {inner}"
    print(f"    y = {text}")


if __name__ == "__main__":
    mp.dps = 40
    for k, row in reversed([*enumerate(power_series(7))]):
        written(fitted(row, k))
        print("    total = y" if k == 6 else "    total = y + total / a")
