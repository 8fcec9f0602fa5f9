"""Coefficients of methods (Butcher's tableaux), and those of their embedded errors."""

from typing import NamedTuple

Rows = tuple[tuple[float, ...], ...]


class Explicit(NamedTuple):
    """An explicit Runge-Kutta method.

    ``errors`` are the weights of the difference to the embedded method; None without one. ``order``
    is that of the method, ``controlled`` the power of the step with which the error falls.
    """

    order: int
    matrix: Rows
    weights: tuple[float, ...]
    nodes: tuple[float, ...]
    errors: tuple[float, ...] | None = None
    controlled: int = 0


class Rosenbrock(NamedTuple):
    """A linearly implicit method, in the form without products with the Jacobian (Hairer and Wanner
    1996, IV.7): ``matrix`` and ``couplings`` weigh the stages before, ``slopes`` the derivative
    with respect to time. The last stage is the error, and all stages from ``matrix[-1]`` with the
    last one are the step."""

    order: int
    gamma: float
    matrix: Rows
    couplings: Rows
    nodes: tuple[float, ...]
    slopes: tuple[float, ...]
    controlled: int


RK4 = Explicit(
    4, ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6), (0.0, 0.5, 0.5, 1.0)
)

# Dormand and Prince, J. Comput. Appl. Math. 6 (1980) 19.
DOPRI5 = Explicit(
    5,
    (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
    (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
    5,
)

# Tsitouras, Comput. Math. Appl. 62 (2011) 770.
TSIT5 = Explicit(
    5,
    (
        (),
        (0.161,),
        (-0.008480655492356989, 0.335480655492357),
        (2.8971530571054935, -6.359448489975075, 4.3622954328695815),
        (5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525),
        (5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401,
         -0.028269050394068383),
    ),
    (0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
     2.324710524099774),
    (0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0),
    (-0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995, -0.1447110071732629,
     0.5823571654525552, -0.45808210592918697, 1 / 66),
    5,
)  # fmt: skip

_LAST = (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256,
         0.030198172008377946)  # fmt: skip

# Steinebach, BIT 63 (2023) 27.
RODAS5P = Rosenbrock(
    5,
    0.21193756319429014,
    (
        (),
        (3.0,),
        (2.849394379747939, 0.45842242204463923),
        (-6.954028509809101, 2.489845061869568, -10.358996098473584),
        (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
        _LAST,
        (*_LAST, 1.0),
        (*_LAST, 1.0, 1.0),
    ),
    (
        (),
        (-14.155112264123755,),
        (-17.97296035885952, -2.859693295451294),
        (147.12150275711716, -1.41221402718213, 71.68940251302358),
        (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
        (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125,
         -0.6610691825249471),
        (30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783,
         -19.097331116725623, -28.087943162872662),
        (37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047,
         -40.06618937091002, -54.66780262877968, -9.48861652309627),
    ),
    (0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0,
     1.0),
    (0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734,
     2.325825639765069, 0.0, 0.0, 0.0),
    5,
)  # fmt: skip


def checked_sums() -> float:
    """Return the largest difference of a node to the sum of its row, over the explicit methods."""
    return max(
        abs(sum(row) - node)
        for method in (RK4, DOPRI5, TSIT5)
        for row, node in zip(method.matrix, method.nodes, strict=True)
    )


__all__ = ["DOPRI5", "RK4", "RODAS5P", "TSIT5", "Explicit", "Rosenbrock"]
