"""Render the list of paths."""

import os
from collections.abc import Iterable, Iterator

from marid.assembly.items import Buffers
from marid.core.context import OutputFormat
from marid.text.display import quote_path
from marid.workspace.walk import Folder

_BATCH_FOLDERS = 4000


def render_paths(folders: Iterable[Folder], *, null: bool, form: OutputFormat) -> Iterator[Buffers]:
    """One path per line, quoted if needed; with `null` raw and separated by NUL."""
    if form is OutputFormat.JSON:
        paths = [_folder_prefix(folder) + name for folder in folders for name in folder.names]
        yield [json_bytes([quote_path(path) for path in paths])]
        return
    end = "\0" if null else "\n"
    batch: Buffers = []
    for folder in folders:
        prefix = _folder_prefix(folder)
        names = folder.names
        joined = prefix + "/".join(names)
        if null or (joined.isprintable() and '"' not in joined):
            text = prefix + f"{end}{prefix}".join(names) + end
        else:
            text = "".join(quote_path(prefix + name) + end for name in names)
        batch.append(os.fsencode(text))
        if len(batch) == _BATCH_FOLDERS:
            yield batch
            batch = []
    yield batch


def json_bytes(value: object) -> bytes:
    """`value` as indented JSON."""
    import json

    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def _folder_prefix(folder: Folder) -> str:
    return f"{folder.path}/" if folder.path else ""
