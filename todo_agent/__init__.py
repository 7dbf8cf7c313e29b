"""A terminal coding agent whose plan is a durable, editable, first-class thing."""

__version__ = "0.1.0"
