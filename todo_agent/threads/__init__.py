"""Threads on disk."""
