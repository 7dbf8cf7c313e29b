"""What the model is told about each tool."""

from __future__ import annotations

FREE_DESCRIPTION = """\
Write the plan of your work. Every call sends the whole list and replaces the stored one; what \
is not sent is gone. An item has `content`, `status` (`pending`, `in_progress` or `done`) and, \
for a todo that is stored already, perhaps its `id`. With its id a todo keeps its identity under \
another content; without, equal content keeps it."""

FREE_GUIDE = """\
For work of several steps keep a plan with `write_todos`: write it before you start, and keep \
its statuses true as you go. Send the whole list each time. The result shows the stored list \
with its ids. Skip the plan for work of one or two steps."""

GUARDED_DESCRIPTION = """\
Write the todo list of your work. Every call sends the whole list and replaces the stored one. \
Unless all items are `completed`, exactly one is `in_progress`. Call it once in a message. The \
list can be emptied only when every item is completed."""

GUARDED_GUIDE = """\
For work of three or more steps keep a todo list with `write_todos`: write it before you start \
with the first item `in_progress`, mark an item `completed` as soon as it is done and set the \
next one `in_progress`. Add what you find on the way, drop what is no longer needed, and do not \
answer finally while items are open. Skip the list for simple questions and single steps."""

SEQUENTIAL_DESCRIPTION = """\
Keep the ordered list of steps of this request. The first call fixes the texts and their order, \
with the first step `in_progress` and the others `pending`. After that every call sends the same \
list again; it may complete the current step, and then the next one is `in_progress`. One step a \
call; completing the last leaves none in progress. Nothing is added, dropped, reworded or opened \
again."""
