"""An operator with kernels for CUDA of its own, for the simulator and for the compiler."""

import math

from numba import cuda, njit

import numgrad as ng


@cuda.jit(device=True)
def _square(v):
    return v * v


@ng.operator("(n),()->(n)", static=("power", "kind"))
@njit
def operator(x, a, out, power, kind):
    for i in range(x.size):
        out[i] = a * x[i] * power + math.sin(x[i] * x[i])
        if kind == "damped":
            out[i] -= x[i]


@operator.cuda
@cuda.jit
def _forward(x, a, out, power, kind):
    n = x.shape[1]
    for i in range(cuda.grid(1), x.shape[0] * n, cuda.gridsize(1)):
        row, column = i // n, i % n
        value = x[row, column]
        out[row, column] = a[row] * value * power + math.sin(_square(value)) - value


@operator.backward
@njit
def operator_backward(g, x, a, out, gx, ga, power):
    ga[0] = 0.0
    for i in range(x.size):
        gx[i] = g[i] * (a * power - 1.0 + 2.0 * x[i] * math.cos(x[i] * x[i]))
        ga[0] += g[i] * x[i] * power


THREADS = 4


@operator_backward.cuda(threads=THREADS)
def _backward(g, x, a, out, gx, ga, power):
    parts = cuda.shared.array(THREADS, g.dtype)
    row, thread = cuda.blockIdx.x, cuda.threadIdx.x
    while row < x.shape[0]:
        parts[thread] = 0
        for i in range(thread, x.shape[1], THREADS):
            value = x[row, i]
            gx[row, i] = g[row, i] * (a[row] * power - 1.0 + 2.0 * value * math.cos(_square(value)))
            parts[thread] += g[row, i] * value * power
        cuda.syncthreads()
        if thread == 0:
            ga[row] = 0
            for k in range(THREADS):
                ga[row] += parts[k]
        cuda.syncthreads()
        row += cuda.gridDim.x
