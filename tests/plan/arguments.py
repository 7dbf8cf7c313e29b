"""Whatever a model may send to a plan's tool, likely and unlikely."""

from __future__ import annotations

from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
STATUS = st.sampled_from(["pending", "in_progress", "completed", "done", "in-progress", "", None])
CONTENT = st.sampled_from(["a", "b", "c", " a", "", "é", "\ud800"]) | TEXT
ROW = st.fixed_dictionaries(
    {"content": CONTENT, "status": STATUS}, optional={"id": TEXT | st.none(), "note": JSON}
)
ARGS = (
    st.fixed_dictionaries({"todos": st.lists(ROW, max_size=6)})
    | st.fixed_dictionaries({"todos": JSON}, optional={"merge": JSON})
    | st.dictionaries(TEXT, JSON, max_size=3)
)
MESSAGES = st.lists(st.lists(ARGS, min_size=1, max_size=3), min_size=1, max_size=6)
"""Some messages of one to three calls each, by their arguments."""
