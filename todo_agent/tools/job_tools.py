"""The tools that look after background commands: shell_output and shell_stop."""

from __future__ import annotations

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Error, Outcome, Run, Success, Tool, ToolCall, ToolContext
from todo_agent.tools.jobs import Job, Jobs
from todo_agent.tools.texts import description

MAX_WAIT_SECONDS = 60

_JOB: JsonObject = {"type": "string", "minLength": 1, "description": "Such as job-1."}
OUTPUT_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "job": _JOB,
        "wait": {
            "type": "number",
            "minimum": 0,
            "maximum": MAX_WAIT_SECONDS,
            "description": "Seconds to wait for its end first.",
        },
    },
    "required": ["job"],
    "additionalProperties": False,
}
STOP_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"job": _JOB},
    "required": ["job"],
    "additionalProperties": False,
}


def shell_output_tool(jobs: Jobs) -> Tool:
    """Return the tool that reads what a background command wrote since the last time."""

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        job = _job(jobs, call.args)
        if isinstance(job, Error):
            return job
        await job.wait(float(str(call.args.get("wait", 0))))
        return report(job)

    return _tool("shell_output", OUTPUT_SCHEMA, run)


def shell_stop_tool(jobs: Jobs) -> Tool:
    """Return the tool that ends a background command."""

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        job = _job(jobs, call.args)
        if isinstance(job, Error):
            return job
        await job.stop()
        return report(job)

    return _tool("shell_stop", STOP_SCHEMA, run)


def report(job: Job) -> Success:
    """Say how a job stands, and what it has written since the last report."""
    output = job.take_output()
    state = state_of(job)
    text = f"{output.rstrip()}\n[{job.name}: {state}]" if output else f"[{job.name}: {state}]"
    return Success(text, display=Display(f"{job.name} · {state}", output, kind="output"))


def state_of(job: Job) -> str:
    """Say in a few words whether a job runs or how it ended."""
    if job.code is None:
        return "running"
    return f"exit code {job.code}" if job.code >= 0 else f"ended by signal {-job.code}"


def _job(jobs: Jobs, args: JsonObject) -> Job | Error:
    try:
        return jobs[str(args["job"])]
    except KeyError:
        listed = ", ".join(f"{job.name} ({job.command[:60]})" for job in jobs.all) or "none"
        return Error(f"There is no background command {args['job']!r}. There are: {listed}.")


def _tool(name: str, schema: JsonObject, run: Run) -> Tool:
    return Tool(
        name,
        description(name),
        schema,
        run,
        resources=lambda _: (),
        title=lambda args: str(args["job"]),
    )
