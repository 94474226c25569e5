import pytest

from fakes.approvals import asked
from marid.adapters.approvals.rows import COLUMNS, from_row, to_row
from marid.core.errors import Unavailable
from marid.core.policy.approval import Approval, ApprovalAnswer


def test_a_row_is_read_as_it_was_written() -> None:
    for approval in (
        Approval(asked(conversation="c")),
        Approval(asked(always=False), answer=ApprovalAnswer.ALWAYS, by="person:web", answered=5.5, closed=True),
    ):
        row = to_row(approval)
        assert len(row) == COLUMNS.count(",") + 1
        assert from_row(row) == approval


@pytest.mark.parametrize(("column", "value"), [(1, "bogus"), (3, "no json"), (3, "[]"), (3, "7"), (12, "maybe")])
def test_a_row_that_was_tampered_with_answers_nothing(column: int, value: str) -> None:
    row = list(to_row(Approval(asked(), answer=ApprovalAnswer.YES)))
    row[column] = value
    with pytest.raises(Unavailable, match="damaged"):
        from_row(tuple(row))
