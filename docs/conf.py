"""Sphinx configuration: `make docs` builds the site, and every warning is an error."""

import importlib
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from replearn import __version__
from replearn.registry import TASKS, entries_of

TASKS_BY_NAME = entries_of(TASKS)

project = "replicable-learn"
author = "The replicable-learn developers"
project_copyright = author
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",  # formulas without a network
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_extra", "README.md", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = False

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4

numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autodoc_typehints = "none"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|[/\\])(_|demo|mlflow_gate|monthly_credit)",  # shown by guides
    "download_all_examples": False,
    "show_memory": False,
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 5,
}

html_theme = "pydata_sphinx_theme"
html_title = "replicable-learn"
html_static_path = ["_static"]
html_extra_path = ["_extra"]  # the page of the flip atlas, written by `flip_atlas`
html_css_files = ["site.css"]
html_js_files = ["tables.js"]
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
}
html_sidebars = {"index": [], "glossary": [], "faq": []}

PACKAGES = {
    "replearn": "Estimators, plan, audit, compare, save and load",
    "replearn.exceptions": "Errors and warnings",
    "replearn.paper": "Algorithms of the paper",
    "replearn.paper.hypotheses": "Hypothesis classes",
    "replearn.outofcore": "Files larger than memory, and Dask",
    "replearn.testing": "Conformance checks for your own estimator, an assertion about flips",
    "replearn_lab": "Experiments of the paper",
}
"""Packages with a reference page: what `__all__` names is on it."""

# By name: `True` means the pages of the last build, and a new package would come one build late.
MODULES = {
    "replearn.auditing.audits": ("What an audit returns", ["AuditResult"]),
    "replearn.auditing.comparison": ("What a comparison returns", ["ModelComparison"]),
    "replearn.auditing.runs": ("Numbers with limits, of both", ["Measured", "Runs"]),
    "replearn.auditing.gate": ("Limits that a build must keep", ["gates"]),
    "replearn.auditing.displays": ("Charts", ["AccuracyFlipsDisplay", "RowFlipsDisplay"]),
    "replearn.checks.fingerprint": ("Parts that were fitted elsewhere", ["prefitted"]),
    "replearn.learners.explanation": ("Why a prediction is what it is", ["Explanation"]),
    "replearn.learners.usefulness": ("Whether a model finds anything", ["Usefulness"]),
    "replearn.persistence.model_file": ("Model files", ["describe", "ModelDescription"]),
    "replearn.persistence.block_folder": ("Fits that may be interrupted", ["resumable"]),
    "replearn.execution.plugins": ("Without the fast paths", ["plain_loop"]),
}
"""Modules of other packages with names for users."""

autosummary_generate = [
    f"api/{package}.rst" for package in [*PACKAGES, *MODULES]
]  # not of the index

INDEX = """API reference
=============

Every public name with one line; names that are not listed are not public.

.. toctree::
   :hidden:
   :glob:

   replearn*

"""

MORE_THEORY = {
    "IncumbentClassifier": ("incumbent-band",),
    "IncumbentRegressor": ("incumbent-band",),
    "PointwiseReplicableClassifier": ("pointwise-threshold", "multiclass-vote", "heavy-labels"),
    "ReplicableSearchCV": ("hypothesis-selection",),
    "audit": ("binomial-limits", "halves-of-one-file"),
    "compare": ("binomial-limits",),
}
"""Theorems beside the one that a guarantee names for its estimators."""


def reference_pages(app: object) -> None:
    """Write one page of the API reference per package, from its `__all__`; drop what is gone."""
    folder = Path(__file__).parent / "api"
    wanted = {"index.rst", *(f"{package}.rst" for package in [*PACKAGES, *MODULES])}
    seen: set[str] = {"__version__"}  # what `replearn` itself exports stands there only
    index = [INDEX]
    exported = {
        package: (title, importlib.import_module(package).__all__)
        for package, title in PACKAGES.items()
    }
    for package, (title, everything) in {**exported, **MODULES}.items():
        names = [name for name in everything if name not in seen]
        seen |= set(names) if package == "replearn" else set()
        lines = [f"{package}: {title}", "=" * (len(package) + len(title) + 2), ""]
        lines += [
            f".. currentmodule:: {package}",
            "",
            ".. autosummary::",
            "   :toctree: generated/",
        ]
        listed = ["", *(f"   {name}" for name in names), ""]
        write_if_changed(folder / f"{package}.rst", "\n".join([*lines, *listed]))
        wanted |= {f"{package}.{name}.rst" for name in names}
        heading = f":doc:`{package} <{package}>`: {title}"
        index += [heading, "-" * len(heading), ""]
        index += [f".. currentmodule:: {package}", "", ".. autosummary::", *listed]
    write_if_changed(folder / "index.rst", "\n".join(index))
    for page in [*folder.glob("*.rst"), *(folder / "generated").glob("*.rst")]:
        if page.name not in wanted:
            page.unlink()


def flip_atlas() -> None:
    """Write the page of the flip atlas, from the files in docs/atlas."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
    from _atlas_page import make_page

    folder = Path(__file__).parent / "_extra" / "atlas"
    folder.mkdir(parents=True, exist_ok=True)
    write_if_changed(folder / "index.html", make_page())


def write_if_changed(page: Path, text: str) -> None:
    """Write a page; one that stays as it was is not built again."""
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def theory_of(value: object) -> list[str]:
    """Return the theorems that a bound, an estimator or a primitive rests on, by their keys."""
    marked = getattr(value, "theorem_key", None)
    name = getattr(value, "__name__", "")
    carried = [g.theorem for g in TASKS_BY_NAME.values() if name in g.learners and g.theorem]
    return list(
        dict.fromkeys([*([marked] if marked else []), *MORE_THEORY.get(name, ()), *carried])
    )


def add_theory(
    app: object, what: str, name: str, value: object, options: object, lines: list
) -> None:
    """End the docstring of what rests on a theorem with links to its pages."""
    keys = theory_of(value) if what in ("class", "function", "data") else []
    if keys:
        links = ", ".join(f":doc:`{key} </theory/{key}>`" for key in keys)
        lines += ["", ".. rubric:: Theory", "", f"Statement and proof: {links}.", ""]


def setup(app: object) -> None:
    """Write generated pages before Sphinx looks for sources; link docstrings to theorems."""
    reference_pages(app)
    flip_atlas()
    app.connect("autodoc-process-docstring", add_theory, priority=900)  # after numpydoc
