"""Sphinx configuration; build with ``python -m sphinx -W -b html docs docs/_build``."""

import os

from docutils import nodes

from numgrad._version import __version__

project = "numgrad"
author = "numgrad developers"
copyright = "2026, numgrad developers"  # noqa: A001  (the name Sphinx asks for)
release = version = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "peers"]  # peers: included by fast.md
templates_path = ["_templates"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False  # __all__ says what is public
autodoc_typehints = "none"  # numpydoc's Parameters section says it
numpydoc_show_class_members = False
numpydoc_validation_checks = {"PR02", "RT02"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Links into other projects need the network: only the published build has them.
if os.environ.get("READTHEDOCS"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "numba": ("https://numba.readthedocs.io/en/stable/", None),
        "numpy": ("https://numpy.org/doc/stable/", None),
        "python": ("https://docs.python.org/3/", None),
        "scipy": ("https://docs.scipy.org/doc/scipy/", None),
    }

# Examples with figures; each checks its own result, and the build fails with it.
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "numgrad"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": True, "navigation_with_keys": False}
html_theme_options["header_links_before_dropdown"] = 6
html_theme_options["logo"] = {"text": f"numgrad {version}"}
html_sidebars = {"index": [], "quickstart": []}  # pages without sections to show beside them
html_static_path = ["_static"]
html_css_files = ["wide_tables.css"]


def end_where_code_ends(app, doctree):
    """Leave out the empty line that doctests of Markdown need behind what is printed."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        block.rawsource = text
        block.children = []
        block += nodes.Text(text)


def show_options(app, what, name, function, options, signature, returned):
    """Show the options of universal functions by their names."""
    shown = "out=None, *, where=True, dtype=None, casting='same_kind'"
    return (signature or "").replace("*into, **options", shown) or None, returned


def setup(app):
    app.connect("doctree-read", end_where_code_ends)
    app.connect("autodoc-process-signature", show_options)
