"""An audit log in a list."""

from marid.ports.audit import AuditRecord


class FakeAudit:
    """The port AuditLog. With `problem`, the first record returns it and is not stored."""

    def __init__(self, problem: str | None = None) -> None:
        self.records: list[AuditRecord] = []
        self.scripts: list[tuple[str, str]] = []
        self._problem = problem

    def record(self, record: AuditRecord) -> str | None:
        if self._problem is None:
            self.records.append(record)
        problem, self._problem = self._problem, None
        return problem

    def save_script(self, text: str, suffix: str) -> str | None:
        self.scripts.append((text, suffix))
        return f"script{suffix}"
