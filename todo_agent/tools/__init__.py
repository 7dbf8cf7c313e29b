"""The coding tools, one file each."""
