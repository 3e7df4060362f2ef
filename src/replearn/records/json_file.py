"""Objects that are kept as JSON files: certificates and plans, probes and votes."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Self

from replearn.records.json import Reader, check_format, pretty_json, read_object, write_atomically


class JsonFile:
    """What is written to a JSON file, whole or not at all, and read from it."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; anything unexpected raises an error."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return pretty_json(self.to_dict())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, whole or not at all."""
        write_atomically(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a JSON file; a changed file raises an error."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))


class FlatJsonFile(JsonFile):
    """A dataclass whose fields are the items of the JSON object, after format and version."""

    KIND: ClassVar[str]  # what error messages call it
    FORMAT: ClassVar[str]
    VERSION: ClassVar[int]

    def to_dict(self) -> dict[str, Any]:
        """Return format, version and all fields as JSON values."""
        fields: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        return {"format": self.FORMAT, "version": self.VERSION, **fields}

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; anything unexpected raises an error."""
        reader = Reader(read_object(text, cls.KIND), cls.KIND)
        check_format(reader, cls.KIND, cls.FORMAT, cls.VERSION)
        found: Self = reader.read(cls)
        reader.finish()
        found._check()
        return found

    def _check(self) -> None:
        """Raise an error if the fields that were read contradict each other."""
