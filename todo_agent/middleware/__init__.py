"""Stock middlewares, one file each."""
