# ruff: noqa: B905  as users write them
"""Programs of geometry and images: rays, rotations, meshes, cameras, filters of images."""

import numpy

from .collection import program

rng = numpy.random.default_rng(5)


@program(
    numpy.array([[0.0, 0, 4], [1.2, 0.5, 5]]),
    numpy.array([1.0, 0.8]),
    numpy.array([0.3, 0.8, -0.5]),
)
def ray_tracing(np, centres, radii, light):
    """An image of two shaded balls, with a shadow, a pixel at a time for all pixels at once."""
    x, y = np.meshgrid(numpy.linspace(-0.6, 0.6, 6), numpy.linspace(-0.6, 0.6, 6))
    rays = np.stack([x, y, np.ones_like(x)], axis=-1)
    rays = rays / np.linalg.norm(rays, axis=-1, keepdims=True)
    light = light / np.linalg.norm(light)
    image = np.zeros(x.shape)
    nearest = np.full(x.shape, np.inf)
    for centre, radius in zip(centres, radii):
        b = rays @ centre
        discriminant = b**2 - (centre @ centre - radius**2)
        hit = discriminant > 0
        root = np.sqrt(np.where(hit, discriminant, 1.0))
        distance = np.where(hit, b - root, np.inf)
        visible = distance < nearest
        nearest = np.where(visible, distance, nearest)
        points = np.where(hit, b - root, 0.0)[..., None] * rays
        normals = (points - centre) / radius
        shade = 0.1 + np.maximum(0.0, np.sum(normals * light, axis=-1))
        image = np.where(visible & hit, shade, image)
    return np.sum(image, axis=0)


@program(rng.normal(size=4), rng.normal(size=(5, 3)), analytic=True)
def quaternions(np, quaternion, vectors):
    """Rotations by quaternions, their composition, and the same by a matrix."""

    def product(p, q):
        w = p[0] * q[0] - np.sum(p[1:] * q[1:])
        v = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
        return np.concatenate([np.expand_dims(w, 0), v])

    q = quaternion / np.sqrt(np.sum(quaternion**2))
    half = product(q, q)
    u, w = half[1:], half[0]
    t = 2 * np.cross(u, vectors)
    turned = vectors + w * t + np.cross(u, t)
    a, b, c, d = half[0], half[1], half[2], half[3]
    matrix = np.stack(
        [
            np.stack([1 - 2 * (c * c + d * d), 2 * (b * c - a * d), 2 * (b * d + a * c)]),
            np.stack([2 * (b * c + a * d), 1 - 2 * (b * b + d * d), 2 * (c * d - a * b)]),
            np.stack([2 * (b * d - a * c), 2 * (c * d + a * b), 1 - 2 * (b * b + c * c)]),
        ]
    )
    difference = turned - vectors @ matrix.T
    return turned[:, 0] * turned[:, 2] + np.sum(difference**2) + np.linalg.det(matrix)


@program(rng.normal(size=(6, 3)), analytic=True)
def mesh_of_triangles(np, vertices):
    """Areas, normals, volume and curvature of a closed mesh, an octahedron that was bent."""
    faces = numpy.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4],
                         [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])  # fmt: skip
    ball = numpy.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    points = ball + 0.1 * vertices
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    normals = np.cross(b - a, c - a)
    areas = 0.5 * np.sqrt(np.sum(normals**2, axis=1))
    volume = np.sum(np.einsum("ij,ij->i", a, np.cross(b, c))) / 6
    units = normals / (2 * areas[:, None])
    of_vertices = np.zeros_like(points)
    for face, normal in zip(faces, units):
        of_vertices[face] += normal
    bending = np.sum((units[:-1] - units[1:]) ** 2)
    return volume + areas.sum() * bending + np.sum(of_vertices * points)


@program(rng.normal(size=(8, 3)), rng.normal(size=(8, 3)))
def alignment_of_point_sets(np, source, target):
    """The rotation that brings points closest to others (Kabsch), by singular vectors."""
    p = source - np.mean(source, axis=0)
    q = source * 0.8 + 0.3 * target
    q = q - np.mean(q, axis=0)
    u, s, vt = np.linalg.svd(p.T @ q)
    sign = np.sign(np.linalg.det(u @ vt))
    flip = np.diag(np.stack([1.0, 1.0, sign]))
    rotation = u @ flip @ vt
    scale = np.sum(s * np.diag(flip)) / np.sum(p**2)
    residual = scale * p @ rotation - q
    angle = np.arccos((np.trace(rotation) - 1) / 2)
    return np.sqrt(np.mean(np.sum(residual**2, axis=1))) + angle


@program(
    rng.normal(size=(6, 3)), 0.1 * rng.normal(size=6), numpy.array([1.1, -0.05]), analytic=True
)
def camera_projection(np, points, pose, lens):
    """Reprojection of points by a camera with a rotation vector and radial distortion."""
    vector, shift = pose[:3], pose[3:]
    theta = np.sqrt(vector @ vector)
    axis = vector / theta
    c, s = np.cos(theta), np.sin(theta)
    along = (points @ axis)[:, None] * axis
    turned = points * c + np.cross(axis, points) * s + along * (1 - c)
    seen = turned + shift + numpy.array([0.0, 0, 6])
    xy = seen[:, :2] / seen[:, 2:]
    r2 = np.sum(xy**2, axis=1, keepdims=True)
    pixels = lens[0] * xy * (1 + lens[1] * r2 + 0.01 * r2**2)
    return pixels.ravel()


@program(rng.uniform(size=(8, 9)), rng.normal(size=(3, 3)))
def image_filters(np, image, kernel):
    """Convolution by shifted slices, edges, a blur, a median filter, pooling and a histogram."""
    height, width = image.shape
    padded = np.pad(image, 1, mode="edge")
    filtered = np.zeros_like(image)
    for i in range(3):
        for j in range(3):
            filtered += kernel[i, j] * padded[i : i + height, j : j + width]
    gx = padded[1:-1, 2:] - padded[1:-1, :-2]
    gy = padded[2:, 1:-1] - padded[:-2, 1:-1]
    edges = np.hypot(gx, gy)
    stacked = np.stack(
        [padded[i : i + height, j : j + width] for i in range(3) for j in range(3)], axis=-1
    )
    medians = np.median(stacked, axis=-1)
    pooled = filtered[:8, :8].reshape(4, 2, 4, 2).max(axis=(1, 3))
    gamma = np.power(np.clip(image, 0.05, 0.95), 0.8)
    flipped = np.flipud(np.rot90(gamma)).T
    return np.sum(edges * medians) + pooled.sum() + np.sum(flipped[::2] ** 2)


@program(numpy.array([[0.0, 0], [4, 0.3], [5, 3], [2, 5], [-1, 2]]), numpy.array([0.4, 0.2]))
def polygons(np, corners, shift):
    """Area, centroid, moments and winding of a polygon, and its part in a half plane."""
    x, y = corners.T
    nx, ny = np.roll(x, -1), np.roll(y, -1)
    crosses = x * ny - nx * y
    area = 0.5 * crosses.sum()
    centroid = np.stack([((x + nx) * crosses).sum(), ((y + ny) * crosses).sum()]) / (6 * area)
    perimeter = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1).sum()
    to = corners - centroid - shift
    angles = np.arctan2(to[:, 1], to[:, 0])
    turns = np.mod(np.diff(np.concatenate([angles, angles[:1]])) + np.pi, 2 * np.pi) - np.pi
    kept = []
    for a, b in zip(corners, np.roll(corners, -1, axis=0)):
        low, high = a[1] - 1.0 - shift[1], b[1] - 1.0 - shift[1]
        t = np.clip(low / (low - high), 0.0, 1.0)
        kept.append(a + t * (b - a))
    clipped = np.stack(kept)
    return area + perimeter + np.sum(turns**2) + np.sum(clipped[:, 0] * clipped[:, 1])
