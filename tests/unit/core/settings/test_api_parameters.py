import pytest

from marid.core.errors import BadInput
from marid.core.model_io import ForcedTool, Parameters, ReasoningOptions
from marid.core.settings.api_parameters import parameters_from


def test_nothing_set_is_what_the_provider_makes_of_it() -> None:
    assert parameters_from({}) == Parameters()


def test_every_key_has_its_parameter() -> None:
    table = {
        "temperature": 1, "max_tokens": 5, "top_p": 0.5, "stop": ("a",), "tool_choice": "none",
        "parallel_tool_calls": False, "frequency_penalty": 1, "presence_penalty": -1, "seed": 3,
        "response_format": {"type": "text"}, "prompt_caching": False, "reasoning": {"effort": "low", "exclude": True},
    }  # fmt: skip
    assert parameters_from(table) == Parameters(
        temperature=1.0, max_tokens=5, top_p=0.5, stop=("a",), tool_choice="none", parallel_tool_calls=False,
        frequency_penalty=1.0, presence_penalty=-1.0, seed=3, response_format={"type": "text"}, prompt_caching=False,
        reasoning=ReasoningOptions(effort="low", exclude=True),
    )  # fmt: skip


def test_one_tool_may_be_chosen() -> None:
    table = {"tool_choice": {"type": "function", "function": {"name": "grep_files"}}}
    assert parameters_from(table).tool_choice == ForcedTool("grep_files")


@pytest.mark.parametrize(
    ("table", "thinking"),
    [
        ({"enabled": True}, ReasoningOptions(enabled=True, effort="medium")),
        ({"enabled": True, "effort": "high"}, ReasoningOptions(enabled=True, effort="high")),
        ({"enabled": False}, ReasoningOptions(enabled=False)),
        ({"effort": "high", "max_tokens": 7}, ReasoningOptions(max_tokens=7)),
        ({"enabled": True, "max_tokens": 7}, ReasoningOptions(enabled=True, max_tokens=7)),
    ],
)
def test_of_effort_and_tokens_the_latter_counts_and_enabled_alone_is_medium(
    table: dict[str, object], thinking: ReasoningOptions
) -> None:
    assert parameters_from({"reasoning": table}).reasoning == thinking


def test_all_problems_are_told() -> None:
    with pytest.raises(BadInput) as caught:
        parameters_from({"temperatur": 1, "seed": "x", "reasoning": {"effort": "huge"}, "top_p": 3})
    assert str(caught.value) == (
        "unknown key 'api.temperatur'; did you mean 'api.temperature'?; 'api.seed' must be a whole number, not 'x'; "
        "'api.reasoning.effort' must be none or minimal or low or medium or high or xhigh or max, not 'huge'; "
        "'api.top_p' must be a number from 0 to 1, not 3"
    )
    with pytest.raises(BadInput, match=r"'api\.reasoning' must be a table"):
        parameters_from({"reasoning": 1})
