import pytest
from bench.context.peers import RECIPES, Peer, reason


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("", "no message"),
        ("Looking\nERROR: No matching distribution found for x\n", "No matching distribution found for x"),
        ("npm error code E404\nnpm error 404 at https://registry.invalid/x\n", "npm error 404 at …"),
        ("only\nthis", "this"),
    ],
)
def test_an_installer_s_message_is_shown_without_addresses(message: str, shown: str) -> None:
    assert reason(message) == shown


def test_a_command_has_tree_and_output_put_in() -> None:
    jinni = next(recipe for recipe in RECIPES if recipe.name == "jinni")
    peer = Peer(recipe=jinni, version="1", program=("/bin/jinni",))
    assert peer.argv("/tree", "/out") == ("/bin/jinni", "/tree", "-o", "/out")
