"""The list of paths."""

import os
from collections.abc import Iterable, Iterator

from marid.assembly.pack import Buffers
from marid.core.context import Form
from marid.text.visible import shown_path
from marid.workspace.walk import Folder

_BATCH = 4000


def listing(folders: Iterable[Folder], *, null: bool, form: Form) -> Iterator[Buffers]:
    """One path a line, quoted where it could be misread; NUL-separated and raw with `null`."""
    if form is Form.JSON:
        paths = [_prefix(folder) + name for folder in folders for name in folder.names]
        yield [json_bytes([shown_path(path) for path in paths])]
        return
    end = "\0" if null else "\n"
    batch: Buffers = []
    for folder in folders:
        prefix = _prefix(folder)
        names = folder.names
        joined = prefix + "/".join(names)
        if null or (joined.isprintable() and '"' not in joined):
            text = prefix + f"{end}{prefix}".join(names) + end
        else:
            text = "".join(shown_path(prefix + name) + end for name in names)
        batch.append(os.fsencode(text))
        if len(batch) == _BATCH:
            yield batch
            batch = []
    yield batch


def json_bytes(value: object) -> bytes:
    """`value` as indented JSON."""
    import json

    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def _prefix(folder: Folder) -> str:
    return f"{folder.path}/" if folder.path else ""
