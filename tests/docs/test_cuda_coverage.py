"""The table of operators on CUDA is what the library's own programs are lowered to."""

import importlib.util

from tests.sampling import exhaustive

from .pages import DOCS, table


def load():
    spec = importlib.util.spec_from_file_location("cuda_coverage", DOCS / "cuda_coverage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@exhaustive
def test_the_page_is_what_its_script_writes():
    script = load()
    assert script.PAGE.read_text("utf-8") == script.page(), (
        "the page is stale: python docs/cuda_coverage.py"
    )


def test_little_is_left_to_the_host():
    rows = table("cuda_coverage.md", "operator", "on a device")
    host = {name for name, how in rows if "host" in how and "SciPy" not in how}
    assert host == {"solve_banded"}
