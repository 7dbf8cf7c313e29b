"""What a call's arguments may look like, and what is said about those that do not."""

from __future__ import annotations

import json

import pytest

from todo_agent.plan.disciplines import FREE, GUARDED, SEQUENTIAL
from todo_agent.plan.plan import Status, Todo
from todo_agent.plan.refusal import Refusal
from todo_agent.plan.shapes import Shape

ROW = {"content": "Fix the test", "status": "pending"}
DISCIPLINES = pytest.mark.parametrize(
    "discipline", [FREE, GUARDED, SEQUENTIAL], ids=lambda d: d.name
)


@DISCIPLINES
def test_a_list_that_comes_as_json_text_is_decoded(discipline):
    assert discipline.shape.parse({"todos": json.dumps([ROW])}) == (Todo("Fix the test"),)


@DISCIPLINES
@pytest.mark.parametrize(
    "todos",
    ["[", '"abc"', '{"content": "x", "status": "pending"}', "[{'content': 'a'}]", "[" * 100_000],
)
def test_a_text_that_is_no_json_list_is_refused_with_a_sample(discipline, todos):
    refusal = discipline.shape.parse({"todos": todos})
    assert isinstance(refusal, Refusal)
    assert refusal.code == "bad_type"
    assert "todos must be a list, but is the text" in refusal.message
    assert '{"todos": [{"content": "Run the tests", "status": "pending"}]}' in refusal.message
    assert len(refusal.message) < 300


def test_a_bare_object_is_refused_with_a_sample():
    refusal = GUARDED.shape.parse({"todos": ROW})
    assert refusal == Refusal(
        "bad_type",
        "todos must be a list, but is an object. Send for example "
        '{"todos": [{"content": "Run the tests", "status": "pending"}]}.',
    )


@DISCIPLINES
@pytest.mark.parametrize("word", ["in-progress", "in progress", "in_progress"])
def test_hyphens_and_spaces_in_a_status_count_as_underscores(discipline, word):
    draft = discipline.shape.parse({"todos": [{"content": "a", "status": word}]})
    assert draft == (Todo("a", Status.ACTIVE),)


@DISCIPLINES
@pytest.mark.parametrize("word", ["COMPLETED", "Done", "invalid", "", None, 3, ["pending"], {}])
def test_another_status_is_refused_with_its_index_and_the_words(discipline, word):
    refusal = discipline.shape.parse({"todos": [ROW, {"content": "a", "status": word}]})
    assert isinstance(refusal, Refusal)
    assert refusal.code == "bad_status"
    done = "done" if discipline is FREE else "completed"
    assert refusal.message.startswith(
        f"todos[1].status must be one of pending, in_progress, {done}, but is "
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"status": "pending"}, "todos[0].content is missing."),
        ({"content": "a"}, "todos[0].status is missing."),
        ("just a text", 'todos[0] must be an object, but is the text "just a text".'),
        (None, "todos[0] must be an object, but is null."),
        (
            {"content": 7, "status": "pending"},
            "todos[0].content must be text, but is the number 7.",
        ),
        ({"content": True, "status": "pending"}, "todos[0].content must be text, but is true."),
        (
            {"content": [[]], "status": "pending"},
            "todos[0].content must be text, but is a list.",
        ),
    ],
)
def test_what_is_wrong_with_an_item_is_said_with_its_place(row, message):
    refusal = GUARDED.shape.parse({"todos": [row]})
    assert isinstance(refusal, Refusal)
    assert refusal.message == message


def test_a_refusal_stays_short_and_whole_however_large_or_deep_the_value_is():
    deep: list[object] = []
    for _ in range(50_000):
        deep = [deep]
    for value in (deep, "x" * 1_000_000, 10**5000, float("inf"), float("nan")):
        refusal = GUARDED.shape.parse({"todos": [{"content": value, "status": value}]})
        assert isinstance(refusal, Refusal)
        assert len(refusal.message) < 300


def test_a_lone_surrogate_becomes_a_character_that_a_file_can_hold():
    draft = Shape().parse({"todos": [{"content": "a\ud800b \ud83d\ude00", "status": "pending"}]})
    assert draft == (Todo("a�b 😀"),)


def test_unknown_fields_are_refused_or_ignored():
    args = {"todos": [{**ROW, "note": "n"}], "merge": True}
    assert GUARDED.shape.parse(args) == (Todo("Fix the test"),)
    refusal = SEQUENTIAL.shape.parse({"todos": [{**ROW, "note": "n"}]})
    assert refusal == Refusal("extra_field", 'todos[0] has a field "note"; known: content, status.')


def test_the_row_of_a_todo_is_what_the_shape_parses_again():
    todo = Todo("a", Status.DONE, "id-1")
    row = FREE.shape.row(todo)
    assert row == {"id": "id-1", "content": "a", "status": "done"}
    assert FREE.shape.parse({"todos": [row]}) == (todo,)
