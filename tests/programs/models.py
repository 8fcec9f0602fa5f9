"""Longer programs: models with classes, parameters in dictionaries, several steps."""

import numpy

from .collection import program

rng = numpy.random.default_rng(8)


@program(rng.normal(size=(5, 8)) * 0.3, rng.normal(size=(8, 8)) * 0.3, rng.normal(size=8),
         rng.normal(size=(6, 5)), analytic=True)  # fmt: skip
def recurrent_network(np, w_in, w_state, w_out, sequence):
    """A gated recurrent network with a dictionary of parameters and a class for its state."""

    class Cell:
        def __init__(self, parameters):
            self.p = parameters
            self.state = np.zeros(8)
            self.trace = []

        def gate(self, x, shift):
            return 1 / (1 + np.exp(-(x @ self.p["in"] + self.state @ self.p["state"] + shift)))

        def step(self, x):
            update = self.gate(x, 0.5)
            reset = self.gate(x, -0.5)
            candidate = np.tanh(x @ self.p["in"] + (reset * self.state) @ self.p["state"].T)
            self.state = (1 - update) * self.state + update * candidate
            self.trace.append(self.state)
            return self.state @ self.p["out"]

    cell = Cell({"in": w_in, "state": w_state, "out": w_out})
    outputs = [cell.step(x) for x in sequence]
    targets = numpy.sin(numpy.arange(len(sequence)))
    errors = np.stack(outputs) - targets
    history = np.stack(cell.trace)
    velocity = np.diff(history, axis=0)
    penalty = sum(np.sum(v**2) for v in cell.p.values())
    loss = np.mean(errors**2) + 1e-2 * penalty + 1e-3 * np.sum(velocity**2)
    return loss


@program(rng.normal(size=(4, 6)), rng.normal(size=(6, 4)), rng.normal(size=(7, 4)))
def autoencoder_with_momentum(np, encode, decode, data):
    """A few steps of training by hand-written gradients; the loss after them."""
    parameters = {"encode": encode, "decode": decode, "shift": np.zeros(6)}
    velocity = {name: np.zeros_like(value) for name, value in parameters.items()}
    rate, momentum = 0.05, 0.9
    losses = []
    for epoch in range(4):
        hidden = data @ parameters["encode"] + parameters["shift"]
        active = np.maximum(hidden, 0.1 * hidden)
        restored = active @ parameters["decode"]
        error = restored - data
        losses.append(np.mean(error**2))
        g_restored = 2 * error / error.size
        g_active = g_restored @ parameters["decode"].T
        g_hidden = np.where(hidden > 0, g_active, 0.1 * g_active)
        gradients = {
            "encode": data.T @ g_hidden,
            "decode": active.T @ g_restored,
            "shift": g_hidden.sum(axis=0),
        }
        norm = np.sqrt(sum(np.sum(g**2) for g in gradients.values()))
        clipped = {k: g / np.maximum(1.0, norm) for k, g in gradients.items()}
        for name in parameters:
            velocity[name] = momentum * velocity[name] - rate / (1 + epoch) * clipped[name]
            parameters[name] = parameters[name] + velocity[name]
    decay = (losses[0] - losses[-1]) / losses[0]
    return losses[-1] + 0.1 * decay + 1e-3 * np.sum(parameters["encode"] ** 2)


@program(rng.normal(size=(6, 4)), rng.normal(size=(4, 4)) * 0.5, rng.normal(size=(4, 12)) * 0.5)
def block_of_a_transformer(np, tokens, mix, wide):
    """Attention with two heads and a mask, normalisation, a feed-forward layer, a loss."""
    n, width = tokens.shape
    heads = 2

    def normalised(x):
        centred = x - x.mean(axis=-1, keepdims=True)
        return centred / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5)

    def softmax(x):
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)

    def split(x):
        return x.reshape(n, heads, width // heads).transpose(1, 0, 2)

    position = np.arange(n)[:, None] / 10.0 ** (np.arange(width) / width)
    x = tokens + np.sin(position)
    y = normalised(x)
    query, key, value = split(y @ mix), split(y @ mix.T), split(y)
    scores = np.matmul(query, np.swapaxes(key, -1, -2)) / np.sqrt(width // heads)
    future = np.triu(np.ones((n, n)), k=1)
    scores = np.where(future > 0, -1e9, scores)
    attended = np.matmul(softmax(scores), value)
    x = x + attended.transpose(1, 0, 2).reshape(n, width)
    h = normalised(x) @ wide
    gelu = 0.5 * h * (1 + np.tanh(0.7978845608 * (h + 0.044715 * h**3)))
    x = x + gelu @ wide.T / width
    logits = normalised(x) @ tokens.T
    chosen = np.log(softmax(logits))[np.arange(n), (np.arange(n) + 1) % n]
    return -np.mean(chosen)


@program(
    rng.uniform(size=(7, 7)),
    rng.normal(size=(2, 1, 3, 3)),
    rng.normal(size=(3, 2, 2, 2)),
    allocates=True,
)
def convolutional_network(np, image, first, second):
    """Two layers of convolution by windows, with pooling, and a softmax."""

    def convolve(x, kernels):
        outputs, inputs, height, width = kernels.shape
        rows, columns = x.shape[1] - height + 1, x.shape[2] - width + 1
        y = np.zeros((outputs, rows, columns))
        for o in range(outputs):
            total = 0.0
            for i in range(inputs):
                for a in range(height):
                    for b in range(width):
                        part = x[i, a : a + rows, b : b + columns]
                        total = total + kernels[o, i, a, b] * part
            y[o] = total
        return y

    def pool(x):
        channels, rows, columns = x.shape
        even = x[:, : rows // 2 * 2, : columns // 2 * 2]
        tiles = even.reshape(channels, rows // 2, 2, columns // 2, 2)
        return tiles.max(axis=(2, 4))

    x = image[None] - image.mean()
    x = np.maximum(convolve(x, first), 0) + 0.01 * convolve(x, first)
    x = pool(x)
    x = np.tanh(convolve(x, second))
    features = x.mean(axis=(1, 2))
    logits = features * 3 - np.max(features)
    logits = logits - np.log(np.sum(np.exp(logits)))
    return -logits[1] + 0.01 * np.abs(first).sum()


@program(rng.normal(size=(6, 2)), rng.normal(size=(3, 4)), rng.uniform(0.5, 1, 3))
def radial_basis_functions(np, points, parameters, widths):
    """A surface of bumps, its gradient and curvature by formulas, and a path of descent on it."""
    centres, heights, angles = parameters[:, :2], parameters[:, 2], parameters[:, 3]

    def bumps(x):
        d = x[..., None, :] - centres
        c, s = np.cos(angles), np.sin(angles)
        u = c * d[..., 0] + s * d[..., 1]
        v = -s * d[..., 0] + c * d[..., 1]
        return u, v, heights * np.exp(-((u / widths) ** 2) - v**2)

    def slope(x):
        u, v, b = bumps(x)
        gu, gv = -2 * u / widths**2 * b, -2 * v * b
        c, s = np.cos(angles), np.sin(angles)
        return np.stack([np.sum(gu * c - gv * s, axis=-1), np.sum(gu * s + gv * c, axis=-1)], -1)

    x = points
    lengths = np.zeros(len(points))
    for _ in range(6):
        step = -0.2 * slope(x) - 0.01 * x
        lengths = lengths + np.sqrt(np.sum(step**2, axis=1))
        x = x + step
    values = np.sum(bumps(x)[2], axis=-1)
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 3), indexing="ij"), -1)
    surface = np.sum(bumps(grid)[2], axis=-1)
    weights = np.outer([0.5, 1, 1, 0.5], [0.5, 1, 0.5])
    volume = np.sum(surface * weights) * (2 / 3)
    return np.sum(values) + lengths[2] * volume + np.sum(slope(x)[0] ** 2)


@program(rng.normal(size=12), rng.normal(size=(12, 3)), numpy.array([0.2, -0.4, 0.6]))
def cox_regression(np, log_times, covariates, beta):
    """A partial likelihood of survival times, residuals, and a cumulative baseline hazard."""
    times = np.exp(log_times)
    events = np.arange(12) % 3 != 0
    order = np.argsort(times)
    x = covariates[order]
    observed = (events + 0 * times)[order]
    risk = x @ beta
    top = np.max(risk)
    scaled = np.exp(risk - top)
    at_risk = np.cumsum(scaled[::-1])[::-1]
    partial = np.sum((risk - top - np.log(at_risk)) * observed)
    jumps = observed / at_risk
    hazard = np.cumsum(jumps)
    martingale = observed - scaled * hazard
    survival = np.exp(-hazard)
    gaps = np.diff(times[order])
    mean_time = np.sum(survival[:-1] * gaps)
    penalty = 0.1 * np.sum(beta**2) + 0.05 * np.sum(np.sqrt(beta**2 + 1e-4))
    concordant = 0.0
    for i in range(11):
        concordant = concordant + np.sum(1 / (1 + np.exp(risk[i + 1 :] - risk[i]))) * observed[i]
    return -partial + penalty + np.sum(martingale**2) + mean_time + 0.1 * concordant
