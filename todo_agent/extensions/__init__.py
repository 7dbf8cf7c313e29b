"""The fine-grained extension contract and its host."""
