"""Four functions of loops as they are written for JAX: over whole arrays, and with `lax.scan`."""

import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_enable_x64", True)


def nbody(p, m):
    apart = p[:, None, :] - p[None, :, :]
    near = 1.0 / jnp.sqrt((apart * apart).sum(-1) + 1e-3)
    pairs = jnp.triu(m[:, None] * m[None, :], 1)
    return -(pairs * near).sum()


def heat(u0, k, steps):
    def step(u, _):
        inner, curve = u[1:-1], u[:-2] - 2.0 * u[1:-1] + u[2:]
        return u.at[1:-1].set(inner + k * (1.0 + inner * inner) * curve), None

    u, _ = lax.scan(step, u0, None, length=steps)
    return (u * u).sum()


def _rotate(r, x):
    theta2 = r @ r
    safe = jnp.where(theta2 > 0.0, theta2, 1.0)
    theta = jnp.sqrt(safe)
    c, s, w = jnp.cos(theta), jnp.sin(theta), r / theta
    turned = x * c + jnp.cross(w, x) * s + w * ((w @ x) * (1.0 - c))
    return jnp.where(theta2 > 0.0, turned, x)


def _residuals(cam, point, feat):
    x = _rotate(cam[0:3], point) + cam[3:6] + jnp.array([0.0, 0.0, 5.0])
    u = x[:2] / x[2]
    r2 = u @ u
    error = cam[6] * (1.0 + cam[7] * r2 + cam[8] * r2 * r2) * u - feat
    return error @ error


def bundle(cams, points, ci, pi, feats):
    return jax.vmap(_residuals)(cams[ci], points[pi], feats).sum()


def lstm(xs, w, b, h0):
    def step(state, x):
        h, c = state
        f = jax.nn.sigmoid(x * w[0, :4] + b[:4])
        g = jax.nn.sigmoid(h * w[1, :4] + w[2, :4])
        o = jax.nn.sigmoid(x * w[3, :4] + w[4, :4])
        a = jnp.tanh(h * w[5, :4] + w[6, :4])
        c = c * f + g * a
        h = o * jnp.tanh(c)
        z = jnp.exp(h * w[7, :4]).sum()
        return (h, c), (h * x - jnp.log(2.0 + z)).sum()

    _, terms = lax.scan(step, (h0, jnp.zeros_like(h0)), xs)
    return terms.sum()


STATIC = {"heat": (2,)}


def gradient(name, arguments):
    """Return a function without arguments that computes the gradients to all floating arrays and
    numbers, and waits for them."""
    static = STATIC.get(name, ())
    floating = [n for n, a in enumerate(arguments)
                if n not in static and jnp.asarray(a).dtype.kind == "f"]  # fmt: skip
    function = jax.jit(jax.grad(globals()[name], argnums=tuple(floating)), static_argnums=static)
    given = [int(a) if n in static else jnp.asarray(a) for n, a in enumerate(arguments)]
    return lambda: jax.block_until_ready(function(*given))
