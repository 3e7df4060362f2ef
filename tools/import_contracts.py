"""Contracts for import-linter: private modules, and packages that others see from outside."""

from __future__ import annotations

import grimp
from importlinter import Contract, ContractCheck, fields, output


class PrivateModules(Contract):
    """Forbid imports of a private module from outside the package that holds it.

    ``house.kitchen._stove`` may be imported by ``house.kitchen`` and everything below it, by
    nobody else. A module below a private package is as private as the package. Names such as
    ``__main__`` are not private.

    Options: ``packages``, the packages that are looked at, below which everything counts.
    """

    type_name = "private"

    packages = fields.ListField(subfield=fields.StringField())

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        """Look at every import of a private module."""
        modules = [name for name in graph.modules if owner(name) and self._is_watched(name)]
        broken = [
            (importer, imported, _lines(graph, importer, imported))
            for imported in sorted(modules)
            for importer in sorted(graph.find_modules_that_directly_import(imported))
            if not _is_inside(importer, owner(imported))
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print every import that is not allowed."""
        _print_broken(check)

    def _is_watched(self, name: str) -> bool:
        return any(_is_inside(name, package) for package in self.packages)


class PackagesOnly(Contract):
    """Forbid imports of modules inside the packages of another distribution.

    ``from house.kitchen import stove`` is allowed if ``house.kitchen`` is a package;
    ``from house.kitchen.oven import stove`` and ``from house.exceptions import ...`` are not, if
    these are modules: what they define is imported from the package that lists it in ``__all__``.

    Options: ``importers``, the packages that are looked at; ``imported``, the root packages whose
    modules they must not import.
    """

    type_name = "packages"

    importers = fields.ListField(subfield=fields.StringField())
    imported = fields.ListField(subfield=fields.StringField())

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        """Look at every import across the border."""
        broken = [
            (importer, imported, _lines(graph, importer, imported))
            for importer in sorted(graph.modules)
            if any(_is_inside(importer, package) for package in self.importers)
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if any(_is_inside(imported, package) for package in self.imported)
            and not graph.find_children(imported)
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print every import that is not allowed."""
        _print_broken(check)


def owner(module: str) -> str | None:
    """Return the package that may import a private module; None if the module is public.

    Examples
    --------
    >>> owner("house.kitchen._stove.knob"), owner("house.kitchen"), owner("house.__main__")
    ('house.kitchen', None, None)
    """
    parts = module.split(".")
    for place, part in enumerate(parts):
        if part.startswith("_") and not part.startswith("__") and place:
            return ".".join(parts[:place])
    return None


def _is_inside(module: str, package: str | None) -> bool:
    return module == package or module.startswith(f"{package}.")


def _lines(graph: grimp.ImportGraph, importer: str, imported: str) -> str:
    details = graph.get_import_details(importer=importer, imported=imported)
    return ", ".join(f"l.{detail['line_number']}" for detail in details)


def _print_broken(check: ContractCheck) -> None:
    for importer, imported, lines in check.metadata["broken"]:
        output.print_error(f"- {importer} -> {imported} ({lines})", bold=False)
    output.new_line()
