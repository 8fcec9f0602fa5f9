"""Functions of SciPy whose results are indices, counts, ranks or booleans, or depend on the order
of numbers alone: they have no derivative, and values are what they are given."""

_BY_MODULE: dict[str, str] = {
    "cluster.hierarchy": "fcluster fclusterdata is_isomorphic is_monotonic is_valid_im "
    "is_valid_linkage leaves_list num_obs_linkage",
    "cluster.vq": "vq",
    "linalg": "bandwidth ishermitian issymmetric",
    "ndimage": "binary_closing binary_dilation binary_erosion binary_fill_holes "
    "binary_hit_or_miss binary_opening binary_propagation distance_transform_bf "
    "distance_transform_cdt distance_transform_edt find_objects histogram label maximum_position "
    "minimum_position value_indices watershed_ift",
    "optimize": "linear_sum_assignment",
    "signal": "argrelextrema argrelmax argrelmin find_peaks find_peaks_cwt",
    "sparse.csgraph": "breadth_first_order connected_components depth_first_order "
    "maximum_bipartite_matching min_weight_full_bipartite_matching reverse_cuthill_mckee "
    "structural_rank",
    "spatial": "ConvexHull Delaunay KDTree cKDTree",
    "spatial.distance": "is_valid_dm is_valid_y num_obs_dm num_obs_y",
    "stats": "ansari brunnermunzel cumfreq friedmanchisquare kendalltau kruskal "
    "mannwhitneyu mood page_trend_test rankdata ranksums relfreq somersd spearmanr tiecorrect "
    "weightedtau",
    "stats.contingency": "crosstab",
}

WITHOUT_SLOPES = frozenset(
    f"scipy.{module}.{name}" for module, names in _BY_MODULE.items() for name in names.split()
)
"""Their names."""
