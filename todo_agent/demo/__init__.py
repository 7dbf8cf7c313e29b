"""The offline demo: a small project with a failing test, and the script that mends it."""
