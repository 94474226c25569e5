from fakes.approvals import asked
from marid.adapters.approval_rows import COLUMNS, from_row, to_row
from marid.core.approval import Answer, Approval


def test_a_row_is_read_as_it_was_written() -> None:
    for approval in (
        Approval(asked(conversation="c")),
        Approval(asked(always=False), answer=Answer.ALWAYS, by="person:web", answered=5.5, closed=True),
    ):
        row = to_row(approval)
        assert len(row) == COLUMNS.count(",") + 1
        assert from_row(row) == approval
