"""Runs of the tests on the platforms that docs/platforms.md lists: ``nox -s tests-3.13``.

Where arguments follow, as in ``nox -s tbb -- tests``, pytest gets them instead of the smoke tests.
Interpreters are looked for on the path, then among those of pyenv.
"""

import os
from pathlib import Path

import nox

PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
SMOKE = "@tests/smoke.txt"
"""A minute of the tests: what depends on Python, on Numba and on how objects lie in memory."""
INTERPRETER = "@tests/interpreters.txt"
"""What depends on Python alone: objects in memory, bytecode and sources, entries, pickles."""

PROJECT = nox.project.load_toml("pyproject.toml")["project"]
FEATURES = """
from llvmlite import binding
features = binding.get_host_cpu_features()
print(",".join(("-" if "avx512" in n or not on else "+") + n for n, on in features.items()))
"""

_pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
for _version in PYTHONS:
    os.environ["PATH"] += "".join(f"{os.pathsep}{p}" for p in _pyenv.glob(f"{_version}.*/bin"))
nox.options.sessions = ["smoke"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The whole suite."""
    _run(session, *(session.posargs or ("tests",)))


@nox.session(python=[*PYTHONS, "3.14t"])
def smoke(session: nox.Session) -> None:
    """The smoke tests."""
    _run(session)


@nox.session(python=PYTHONS)
def interpreter(session: nox.Session) -> None:
    """The tests of what depends on the interpreter."""
    _run(session, *(session.posargs or (INTERPRETER,)))


@nox.session(python=PYTHONS[0])
def lowest(session: nox.Session) -> None:
    """The oldest dependencies that are allowed."""
    pinned = [entry.replace(">=", "==") for entry in PROJECT["dependencies"]]
    _run(session, install=pinned)


@nox.session(python="3.13")
def newest(session: nox.Session) -> None:
    """The newest dependencies, release candidates included."""
    _run(session, install=["--pre", "--upgrade", *PROJECT["dependencies"]])


@nox.session(python=PYTHONS[0])
def avx2(session: nox.Session) -> None:
    """Code for this processor without its AVX-512 instructions."""
    session.install("llvmlite")
    features = session.run("python", "-c", FEATURES, silent=True)
    _run(session, env={"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": str(features).strip()})


@nox.session(python=PYTHONS[0])
def workqueue(session: nox.Session) -> None:
    """Numba's own threads, which it falls back to without libgomp."""
    _run(session, env={"NUMBA_THREADING_LAYER": "workqueue"})


@nox.session(python=PYTHONS[0])
def tbb(session: nox.Session) -> None:
    """Threads of Intel's TBB."""
    library = Path(session.virtualenv.location, "lib")
    _run(
        session,
        install=["tbb"],
        env={"NUMBA_THREADING_LAYER": "tbb", "LD_LIBRARY_PATH": str(library)},
    )


@nox.session(python=PYTHONS[0])
def sdist(session: nox.Session) -> None:
    """The tests of the source distribution, with what it holds and nothing else."""
    session.install("build")
    folder = session.create_tmp()
    session.run("python", "-m", "build", "--sdist", "--outdir", folder, silent=True)
    (archive,) = Path(folder).glob("numgrad-*.tar.gz")
    session.run("tar", "xzf", str(archive), "-C", folder, external=True)
    session.chdir(str(archive).removesuffix(".tar.gz"))
    _run(session)


def _run(
    session: nox.Session,
    *arguments: str,
    install: list[str] | None = None,
    env: dict[str, str] | None = None,
) -> None:
    session.install("--no-compile", "-e", ".[test]", *(install or []))
    arguments = arguments or tuple(session.posargs) or (SMOKE,)
    session.run("python", "-m", "pytest", *arguments, env=env)
