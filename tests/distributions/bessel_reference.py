#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""References in mpmath for the Bessel functions, each by two or three expansions."""

from fractions import Fraction

import mpmath as mp


def _debye_polynomials(count):
    """Return u_0 ... u_count of DLMF 10.41.9 as maps from powers to coefficients."""
    polynomials = [{0: Fraction(1)}]
    for _ in range(count):
        new = {}
        for p, c in polynomials[-1].items():
            terms = {p + 1: c * p / 2 + c / 8 / (p + 1), p + 3: -c * p / 2 - 5 * c / 8 / (p + 3)}
            for power, coefficient in terms.items():
                new[power] = new.get(power, 0) + coefficient
        polynomials.append(new)
    return polynomials


_DEBYE = _debye_polynomials(12)


def _log_iv(order, x):
    if x >= 1e4 and order <= 20:  # Hankel, DLMF 10.40.1
        term = total = mp.mpf(1)
        for j in range(1, 40):
            term *= -(4 * order**2 - (2 * j - 1) ** 2) / (j * 8 * x)
            total += term
        return x - mp.log(2 * mp.pi * x) / 2 + mp.log(total)
    if order > 20:  # Debye, DLMF 10.41.3
        root = mp.sqrt(1 + (x / order) ** 2)
        eta = root + mp.log(x / order / (1 + root))
        total = sum(
            sum(mp.mpf(c.numerator) / c.denominator / root**p for p, c in u.items()) / order**k
            for k, u in enumerate(_DEBYE)
        )
        return order * eta - mp.log(2 * mp.pi * order * root) / 2 + mp.log(total)
    return mp.log(mp.besseli(order, x))


def reference(n, kappa):
    """Return log c_n(kappa) and A_n(kappa) as floats."""
    with mp.workdps(30):
        order, kappa = mp.mpf(n) / 2 - 1, mp.mpf(kappa)
        if kappa == 0:
            return float(mp.log(mp.gamma(order + 1) / (2 * mp.pi ** (order + 1)))), 0.0
        log_i = _log_iv(order, kappa)
        log_c = order * mp.log(kappa) - (order + 1) * mp.log(2 * mp.pi) - log_i
        return float(log_c), float(mp.exp(_log_iv(order + 1, kappa) - log_i))
