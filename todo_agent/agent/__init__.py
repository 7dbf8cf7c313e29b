"""The agent loop: no screen, no SDK, no disk, no todo."""
