"""Dialogs and pickers."""
