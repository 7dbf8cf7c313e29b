"""Keeps a conversation within the model's context, so that it can always go on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

from todo_agent.agent.events import Compacted, CompactionStarted
from todo_agent.agent.messages import Block, Image, Message, Opaque, Text, ToolResult, user
from todo_agent.agent.middleware import NATURAL, CallModel, Directive, Middleware, RunContext
from todo_agent.agent.prompt import estimate_tokens
from todo_agent.agent.provider import ModelRequest, ModelResponse, ProviderError
from todo_agent.middleware.digest import (
    DIGEST,
    Digest,
    cut_at,
    last_answer,
    sent,
    tokens_of,
    without_reasoning,
)

CountTokens = Callable[[ModelRequest], Awaitable[int]]

OVERFLOWS = ("context_window", "too_large")
"""Kinds of failed calls that a shorter conversation may mend."""
FULL = "model_context_window_exceeded"
MAX_COMPACTIONS = 2
"""How often a run may compact without having room after it."""
KEEP_SHARE = 0.2
"""The part of the context that recent turns may keep as they are,"""
MAX_KEEP = 40_000
"""and their most tokens."""
KEEP_ON_DEMAND = 4_000
"""The same where a person asks for a compaction."""
LEAST = 1_000
"""Tokens below which a compaction on demand is not worth it."""
ENOUGH = 0.75
"""Clearing results is enough where it leaves so much of what may be sent."""
UNCERTAIN_TOKENS = 10_000
"""So many estimated tokens are counted exactly before they cause a compaction."""
LONG = 4_000
"""Characters from which a text is shortened for a summary that has no room."""
HEAD, TAIL = 1_500, 500
MAX_LISTED = 40
"""The most messages of the person that a digest without a model lists."""

INSTRUCTION = """\
The context is nearly full, so the earlier part of this conversation will be replaced by a \
summary that you write now. Whoever goes on will have nothing else of it. Do not call a tool and \
do not go on with the work; answer with the summary alone, in at most 1,200 words:

1. What the person wants, with every wish and limit they named, in their words where it matters.
2. What was done and found out: files with their paths, commands, results, decisions and why.
3. What failed and must not be tried the same way again.
4. What is under way right now, and the very next step.

The todo list is kept by the program and shown separately: do not repeat it."""


class Compaction(Middleware):
    """Shortens what is sent of a conversation before it no longer fits, and when it does not.

    Large results of the older part are cleared first. Where that is not enough, the model
    sums the older part up; the recent turns stay whole. Nothing of the conversation itself
    is lost or changed: `DIGEST` in the state says how it is sent. It belongs outside of
    every middleware that looks at what is sent, such as those of the plan.

    Args:
        window_of: how many tokens a model's context holds.
        at: the part of the context that may be full before the next step compacts, between
            0 and 1; None never compacts by itself, only when a request is refused.
        count: counts a request exactly; without it an estimate decides.

    Raises:
        ValueError: `at` is not between 0 and 1.
    """

    name = "compaction"
    writes = frozenset({DIGEST})

    def __init__(
        self,
        window_of: Callable[[str], int],
        *,
        at: float | None = 0.8,
        count: CountTokens | None = None,
    ) -> None:
        if at is not None and not 0 < at < 1:
            raise ValueError(f"at is between 0 and 1, not {at}")
        self._window_of = window_of
        self._at = at
        self._count = count
        self._done: dict[str, int] = {}
        """How often each run has compacted since it last had room."""

    async def compact(self, ctx: RunContext, focus: str = "") -> bool:
        """Sum the conversation up because a person wants it; return whether there was enough.

        Args:
            ctx: a run of the conversation.
            focus: what the person wants kept in particular.

        Raises:
            ProviderError: the model could not be asked.
        """
        digest = ctx.state[DIGEST]
        cut = cut_at(ctx.messages, after=digest.upto, keep_tokens=KEEP_ON_DEMAND)
        if cut is None or tokens_of(ctx.messages[digest.upto : cut]) < LEAST:
            return False
        ctx.emit(CompactionStarted())
        await self._sum_up(ctx, cut, focus)
        return True

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        """Send what the digest leaves, and make a shorter one where that does not fit."""
        if request.aside:
            return await call_next(request)
        if self._may_compact(ctx) and await self._is_too_full(request, ctx):
            await self._shorten(request, ctx)
        while True:
            try:
                return await call_next(_digested(request, ctx))
            except ProviderError as error:
                if error.kind not in OVERFLOWS or error.partial is not None:
                    raise
                if not await self._shorten_more(ctx):
                    raise self._too_big(request, ctx, error) from error

    async def after_model(self, ctx: RunContext, response: ModelResponse) -> Directive:
        """Let an answer that filled the context go on after a compaction."""
        if response.stop == FULL:
            return Directive("again") if await self._shorten_more(ctx) else NATURAL
        if ctx.context_tokens < self._window_of(ctx.model) // 2:
            self._done.pop(ctx.run_id, None)
        return NATURAL

    async def on_end(self, ctx: RunContext, end: object) -> None:
        """Forget the run."""
        self._done.pop(ctx.run_id, None)

    async def _is_too_full(self, request: ModelRequest, ctx: RunContext) -> bool:
        if self._at is None:
            return False
        limit, expected = self._limit(request), _expected(ctx)
        if expected <= limit or self._count is None:
            return expected > limit
        if expected - ctx.context_tokens < UNCERTAIN_TOKENS:
            return True
        try:
            return await self._count(_digested(request, ctx)) > limit
        except ProviderError:
            return True

    def _limit(self, request: ModelRequest) -> int:
        """Return how many tokens may be sent; there must be room for an answer, too."""
        window = self._window_of(request.model)
        share = 1.0 if self._at is None else self._at
        return min(int(window * share), max(window // 2, window - request.max_tokens))

    def _may_compact(self, ctx: RunContext) -> bool:
        return self._done.get(ctx.run_id, 0) < MAX_COMPACTIONS

    def _begin(self, ctx: RunContext) -> None:
        self._done[ctx.run_id] = self._done.get(ctx.run_id, 0) + 1
        ctx.emit(CompactionStarted())

    async def _shorten(self, request: ModelRequest, ctx: RunContext) -> None:
        """Make room before a request: clear old results, and sum up if that is not enough."""
        digest = ctx.state[DIGEST]
        keep = min(int(self._window_of(request.model) * KEEP_SHARE), MAX_KEEP)
        cut = cut_at(ctx.messages, after=digest.upto, keep_tokens=keep)
        if cut is None:
            return
        self._begin(ctx)
        cleared = replace(digest, made_at=len(ctx.messages), cleared=cut)
        if _size_with(ctx, cleared) <= self._limit(request) * ENOUGH:
            await _take(ctx, cleared, summarised=0)
        else:
            await self._sum_up(ctx, cut)

    async def _shorten_more(self, ctx: RunContext) -> bool:
        """Make room after a refusal: keep less, then clear even the newest results.

        Return whether less is sent now.
        """
        if not self._may_compact(ctx):
            return False
        digest, tried = ctx.state[DIGEST], self._done.get(ctx.run_id, 0)
        keep = min(int(self._window_of(ctx.model) * KEEP_SHARE), MAX_KEEP) // 4
        cut = cut_at(ctx.messages, after=digest.upto, keep_tokens=keep)
        if cut is not None and tried == 0:
            self._begin(ctx)
            await self._sum_up(ctx, cut, refused=True)
            return True
        everything = replace(digest, made_at=len(ctx.messages), cleared=len(ctx.messages))
        if _size_with(ctx, everything) >= _size_with(ctx, digest):
            return False
        self._begin(ctx)
        await _take(ctx, everything, summarised=0)
        return True

    async def _sum_up(
        self, ctx: RunContext, cut: int, focus: str = "", *, refused: bool = False
    ) -> None:
        wish = f"\n\nThe person wants this kept in particular: {focus}" if focus else ""
        asking = user(INSTRUCTION + wish, synthetic=True)
        summary = ""
        for messages in _attempts(ctx, self._window_of(ctx.model), refused=refused):
            try:
                response = await ctx.ask_aside((*messages, asking))
            except ProviderError as error:
                if error.kind not in OVERFLOWS:
                    raise
            else:
                summary = response.message.text.strip()
                break
        summary = summary or _without_model(ctx.messages[:cut], ctx.state[DIGEST])
        upto = ctx.state[DIGEST].upto
        digest = Digest(len(ctx.messages), cut, summary, cleared=cut)
        await _take(ctx, digest, summarised=cut - upto)

    def _too_big(
        self, request: ModelRequest, ctx: RunContext, error: ProviderError
    ) -> ProviderError:
        """Return the error that says what takes the room."""
        sections = sum(estimate_tokens(section.text) for section in request.sections)
        tools = sum(estimate_tokens(f"{t.name}{t.description}{t.schema}") for t in request.tools)
        parts = {
            "the system prompt and what is added to it": estimate_tokens(request.system) + sections,
            "the descriptions of the tools": tools,
            "the rest of the conversation": tokens_of(sent(ctx.messages, ctx.state[DIGEST])),
        }
        largest = sorted(parts.items(), key=lambda part: part[1], reverse=True)
        shares = ", ".join(f"{name} about {tokens:,} tokens" for name, tokens in largest)
        window = self._window_of(request.model)
        text = (
            f"The conversation does not fit into the {window:,} tokens of {request.model} even "
            f"when it is shortened. It takes: {shares}. Make the largest part smaller, or choose "
            f"a model with more room. ({error})"
        )
        return ProviderError(text, kind="context_window")


def _digested(request: ModelRequest, ctx: RunContext) -> ModelRequest:
    messages = sent(request.messages, ctx.state[DIGEST])
    return request if messages is request.messages else replace(request, messages=messages)


def _expected(ctx: RunContext) -> int:
    """Return how many tokens the coming request has: what the last one had, and what is new."""
    answered = last_answer(ctx.messages)
    known = ctx.context_tokens or tokens_of(sent(ctx.messages, ctx.state[DIGEST])[:answered])
    return known + tokens_of(ctx.messages[answered:])


def _size_with(ctx: RunContext, digest: Digest) -> int:
    """Return how many tokens the coming request will have with another digest."""
    now = tokens_of(sent(ctx.messages, ctx.state[DIGEST]))
    then = tokens_of(sent(ctx.messages, digest))
    return max(_expected(ctx) - now, 0) + then


async def _take(ctx: RunContext, digest: Digest, *, summarised: int) -> None:
    before, after = _expected(ctx), _size_with(ctx, digest)
    new = tokens_of(ctx.messages[last_answer(ctx.messages) :])
    await ctx.change(DIGEST.set(digest), context_tokens=max(after - new, 0))
    ctx.emit(Compacted(before, after, summarised))


def _attempts(ctx: RunContext, window: int, *, refused: bool) -> Iterator[tuple[Message, ...]]:
    """Yield what a summary may be made of: all of it, then less and less."""
    whole = sent(ctx.messages, ctx.state[DIGEST])
    if not refused:
        yield whole
    short = tuple(_shortened(message) for message in whole)
    yield short
    room, first = window // 2, len(short)
    while first > 0 and (weight := tokens_of([short[first - 1]])) <= room:
        room, first = room - weight, first - 1
    if first > 0:
        yield short[first:]


def _shortened(message: Message) -> Message:
    message = without_reasoning(message)
    return replace(message, content=tuple(map(_short, message.content)))


def _short(block: Block) -> Block:
    match block:
        case ToolResult(content=content):
            return replace(block, content=tuple(_short_part(part) for part in content))
        case Text() | Image() | Opaque():
            return _short_part(block)
        case _:
            return block


def _short_part(part: Text | Image | Opaque) -> Text | Opaque:
    match part:
        case Text(text) if len(text) > LONG:
            return Text(f"{text[:HEAD]}\n(cut)\n{text[-TAIL:]}")
        case Image():
            return Text("(an image)")
        case Opaque() if part.type == "document":
            return Text("(a document)")
        case Text() | Opaque():
            return part


def _without_model(replaced: tuple[Message, ...], digest: Digest) -> str:
    """Return what can be said of messages where no model could sum them up."""
    words = [
        " ".join(message.text.split())[:300]
        for message in replaced[digest.upto :]
        if message.role == "user" and not message.synthetic and message.text.strip()
    ]
    listed = "\n".join(f"- {text}" for text in words[-MAX_LISTED:])
    calls = sum(len(message.calls) for message in replaced)
    said = f"No summary could be made. The person said, oldest first:\n{listed}" if words else ""
    earlier = digest.summary[: 4 * LONG]
    ran = f"{calls} tool calls ran; look at the files before you go on." if calls else ""
    return "\n\n".join(filter(None, [earlier, said, ran])) or "No summary could be made."
