"""The lines of a journal: commits and headers, as JSON and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeAlias, assert_never

from todo_agent.agent.conversation import By, Commit
from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.messages import Message, message_from_json, message_to_json
from todo_agent.agent.provider import NO_USAGE, Usage
from todo_agent.threads.titles import clean_title

SCHEMA = 1
"""The version of the format that is written here."""

YEAR_10000 = 253_402_300_800.0
"""The first second that no calendar here can show."""

_START = '{"v":'
_INSIDE = frozenset(",}]")
"""What follows a value that is only a part of another one."""


@dataclass(frozen=True, slots=True)
class Header:
    """What is known of a thread beside its conversation."""

    title: str = ""
    cwd: str = ""
    """Where its tools work; empty when that is not known any more."""
    model: str = ""
    mode: str = "ask"
    created: float = 0.0
    """Seconds since 1970."""
    parent: str = ""
    """The id of the thread that this one is a copy of; older files do not have it."""


@dataclass(frozen=True, slots=True)
class HeaderRecord:
    """The header from here on."""

    seq: int
    at: float
    header: Header
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """One commit; its update is JSON by key name, where null means no value."""

    seq: int
    at: float
    messages: tuple[Message, ...] = ()
    update: JsonObject = field(default_factory=dict)
    usage: Usage = NO_USAGE
    keep: int | None = None
    by: By = "model"
    context_tokens: int | None = None
    schema: int = SCHEMA

    @classmethod
    def of(cls, commit: Commit, *, seq: int, at: float) -> CommitRecord:
        """Return the record of a commit."""
        return cls(
            seq,
            at,
            commit.messages,
            commit.update.to_json(),
            commit.usage,
            commit.keep,
            commit.by,
            commit.context_tokens,
        )


Record: TypeAlias = HeaderRecord | CommitRecord


def encode(record: Record) -> bytes:
    """Return the record as one line."""
    return to_bytes(_to_json(record)) + b"\n"


def decode(line: bytes) -> Record:
    """Return the record of one line.

    Raises:
        ValueError: the line is not exactly one record.
    """
    return _from_json(parse(line))


def salvage(line: bytes) -> tuple[Record, ...]:
    """Return the whole records in a damaged line: behind garbage, or several in one.

    An object within a record, such as a call's input, is not one, whatever it looks like.
    """
    text = line.decode("utf-8", "replace")
    records: list[Record] = []
    start = text.find(_START)
    while start >= 0:
        try:
            data, end = json.JSONDecoder().raw_decode(text, start)
            if text[end : end + 1] not in _INSIDE:
                records.append(_from_json(data))
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find(_START, end)
    return tuple(records)


def version(line: bytes) -> int:
    """Return the version of the format that a line claims; 0 where it claims none."""
    try:
        data = parse(line)
    except ValueError:
        return 0
    claimed = data.get("v") if isinstance(data, Mapping) else None
    return claimed if isinstance(claimed, int) else 0


def to_bytes(data: Json) -> bytes:
    """Return JSON on one line as valid UTF-8, without loss."""
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8, but JSON can spell it.
        return json.dumps(data, separators=(",", ":")).encode()


def parse(data: bytes) -> Json:
    """Return the value of JSON bytes.

    Raises:
        ValueError: they are not JSON in UTF-8, or are nested too deep.
    """
    try:
        value: Json = json.loads(data.decode())
    except RecursionError as error:
        raise ValueError("the JSON is nested too deep") from error
    return value


def usage_to_json(usage: Usage) -> JsonObject:
    """Return token counts as JSON."""
    return asdict(usage)


def usage_from_json(data: Json) -> Usage:
    """Return stored token counts.

    Raises:
        ValueError: the JSON is something else.
    """
    match data:
        case {
            "input_tokens": int(fresh),
            "output_tokens": int(output),
            "cache_read_tokens": int(cached),
            "cache_write_tokens": int(written),
        }:
            return Usage(fresh, output, cached, written)
        case _:
            raise ValueError("these are no token counts")


def header_to_json(header: Header) -> JsonObject:
    """Return the header as JSON."""
    return asdict(header)


def header_from_json(data: JsonObject) -> Header:
    """Return the header that stands among other fields.

    Raises:
        ValueError: a field is missing or of another type.
    """
    match data:
        case {
            "title": str(title),
            "cwd": str(cwd),
            "model": str(model),
            "mode": str(mode),
            "created": int() | float() as created,
        }:
            parent = data.get("parent")
            known = parent if isinstance(parent, str) else ""
            return Header(clean_title(title), cwd, model, mode, check_time(created), known)
        case _:
            raise ValueError("this is no header of a thread")


def check_time(seconds: float) -> float:
    """Return a stored point in time.

    Raises:
        ValueError: it is before 1970 or beyond every calendar.
    """
    if not 0 <= seconds < YEAR_10000:
        raise ValueError(f"{seconds} is no point in time")
    return float(seconds)


def _to_json(record: Record) -> JsonObject:
    data: dict[str, Json] = {"v": record.schema}
    match record:
        case HeaderRecord(seq, at, header):
            data |= {"kind": "meta", "seq": seq, "at": at, **header_to_json(header)}
        case CommitRecord(seq, at, messages, update, usage, keep, by, context_tokens):
            data |= {"kind": "commit", "seq": seq, "at": at, "by": by}
            if keep is not None:
                data["keep"] = keep
            if context_tokens is not None:
                data["context_tokens"] = context_tokens
            if messages:
                data["messages"] = [message_to_json(message) for message in messages]
            if update:
                data["update"] = update
            if usage != NO_USAGE:
                data["usage"] = usage_to_json(usage)
        case _:
            assert_never(record)
    return data


def _from_json(data: Json) -> Record:
    if not isinstance(data, Mapping):
        raise ValueError("a record is an object")
    match data:
        case {"v": int(v), "kind": "meta", "seq": int(seq), "at": int() | float() as at}:
            return HeaderRecord(seq, check_time(at), header_from_json(data), v)
        case {"v": int(v), "kind": "commit", "seq": int(seq), "at": int() | float() as at}:
            return CommitRecord(
                seq,
                check_time(at),
                _messages(data.get("messages", [])),
                _update(data.get("update", {})),
                usage_from_json(data["usage"]) if "usage" in data else NO_USAGE,
                _count(data.get("keep")),
                _by(data.get("by")),
                _count(data.get("context_tokens")),
                v,
            )
        case _:
            raise ValueError("this is no record of a thread")


def _messages(data: Json) -> tuple[Message, ...]:
    if not isinstance(data, Sequence) or not all(isinstance(item, Mapping) for item in data):
        raise ValueError("the messages of a commit are a list of objects")
    return tuple(message_from_json(item) for item in data if isinstance(item, Mapping))


def _update(data: Json) -> JsonObject:
    if not isinstance(data, Mapping):
        raise ValueError("the update of a commit is an object")
    return data


def _count(data: Json) -> int | None:
    if data is None or (isinstance(data, int) and data >= 0):
        return data
    raise ValueError("a commit counts in whole numbers from 0")


def _by(data: Json) -> By:
    match data:
        case "model" | "user" | "restore":
            return data
        case _:
            raise ValueError("a commit is the model's, the user's or a restore")
