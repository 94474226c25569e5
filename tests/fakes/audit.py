"""An audit that is a list."""

from marid.ports.audit import Record


class FakeAudit:
    """Keeps everything; with `problem` it says so and keeps nothing."""

    def __init__(self, problem: str | None = None) -> None:
        self.records: list[Record] = []
        self.scripts: list[tuple[str, str]] = []
        self._problem = problem

    def record(self, record: Record) -> str | None:
        if self._problem is None:
            self.records.append(record)
        problem, self._problem = self._problem, None
        return problem

    def script(self, text: str, suffix: str) -> str | None:
        self.scripts.append((text, suffix))
        return f"script{suffix}"
