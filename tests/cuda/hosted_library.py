"""The libcuda whose device is the host; see `hosted`."""

import atexit
import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("hosted") / "libcuda.c"


def load():
    """Compile the library and load it, under the name that cuda.core looks for."""
    folder = tempfile.mkdtemp(prefix="hosted-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, "libcuda.so.1")
    options = ["-shared", "-fPIC", "-O1", "-w", "-Wl,-soname,libcuda.so.1"]
    subprocess.run(["cc", *options, "-o", path, SOURCE, "-ldl"], check=True)
    return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
