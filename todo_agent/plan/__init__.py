"""The todo list: pure values and rules, and the middlewares that carry them."""
