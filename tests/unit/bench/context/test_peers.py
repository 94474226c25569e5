import pytest
from bench.context.peers import RECIPES, Peer, reason


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("", "no message"),
        ("Looking\nERROR: No matching distribution found for x\n", "No matching distribution found for x"),
        (
            "npm error code E404\nnpm error 404 at https://registry.invalid/x not found\n",
            "npm error 404 at … not found",
        ),
        ("only\nthis", "this"),
    ],
)
def test_an_installer_s_message_is_told_without_addresses(said: str, told: str) -> None:
    assert reason(said) == told


def test_a_command_has_tree_and_output_put_in() -> None:
    jinni = next(recipe for recipe in RECIPES if recipe.name == "jinni")
    peer = Peer(recipe=jinni, version="1", program=("/bin/jinni",))
    assert peer.argv("/tree", "/out") == ("/bin/jinni", "/tree", "-o", "/out")
