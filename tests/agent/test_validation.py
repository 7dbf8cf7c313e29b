"""What the model reads when its arguments do not fit."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from todo_agent.agent.validation import check

READ = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "offset": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["text", "hex"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["path"],
    "additionalProperties": False,
}
START = "The arguments are not valid, so nothing was run: "


def test_valid_arguments_have_no_problem():
    assert check(READ, {"path": "a", "offset": 3, "mode": "hex", "tags": ["x"]}) is None


def test_a_wrong_type_names_the_place_what_came_and_what_is_expected():
    assert check(READ, {"path": "a", "offset": "3"}) == (
        START + 'offset is the string "3", expected a whole number.'
    )
    assert check(READ, {"path": "a", "tags": ["x", 3]}) == (
        START + "tags[1] is the number 3, expected a string."
    )


def test_a_misspelt_argument_is_named_beside_the_known_ones():
    assert check(READ, {"file_path": "a"}) == (
        START + "path is missing; file_path is not known here (known: path, offset, mode, tags)."
    )


def test_limits_and_choices_are_said():
    assert check(READ, {"path": "", "offset": 0, "mode": "octal"}) == (
        START + 'path is the string "", expected at least 1 long; '
        "offset is the number 0, expected at least 1; "
        'mode is the string "octal", expected one of ["text", "hex"].'
    )


def test_a_boolean_is_no_number():
    assert check(READ, {"path": "a", "offset": True}) == (
        START + "offset is true, expected a whole number."
    )


def test_huge_arguments_make_a_short_message():
    message = check(READ, {"path": ["x" * 1_000_000] * 10, "offset": "y" * 5_000_000})
    assert message == (
        START + f'path is a list of 10, expected a string; offset is the string "{"y" * 60}…", '
        "expected a whole number."
    )


def test_deep_arguments_are_refused_without_a_crash():
    deep: object = "bottom"
    for _ in range(100_000):
        deep = [deep]
    assert check(READ, {"path": deep}) == (  # type: ignore[dict-item]
        "The arguments are nested deeper than 64 levels, so nothing was run."
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["path", "offset", "mode", "tags", "x"]), JSON))
def test_any_arguments_get_an_answer_of_bounded_length(args):
    message = check(READ, args)
    assert message is None or len(message) < 2_000
