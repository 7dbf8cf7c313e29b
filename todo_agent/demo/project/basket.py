"""Prices of a shopping basket, in cents."""

FREE_SHIPPING_FROM = 5000
SHIPPING = 490


def subtotal(items):
    """Return the price of all items: pairs of a price and a quantity."""
    return sum(price * quantity for price, quantity in items)


def shipping(amount):
    """Return what shipping costs; from FREE_SHIPPING_FROM on it is free."""
    return 0 if amount > FREE_SHIPPING_FROM else SHIPPING


def total(items):
    """Return what the customer pays."""
    amount = subtotal(items)
    return amount + shipping(amount)
