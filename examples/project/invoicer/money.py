"""Amounts of money as whole cents."""

from decimal import ROUND_HALF_UP, Decimal


def cents(text):
    """Read an amount such as "1.50" or "3"; raises ValueError for anything else."""
    try:
        amount = Decimal(text.strip())
    except ArithmeticError:
        raise ValueError(f"not an amount: {text!r}") from None
    return int((amount * 100).to_integral_value(ROUND_HALF_UP))


def percent(amount, rate):
    """A share of an amount in cents, rounded half up."""
    return int((Decimal(amount) * rate / 100).to_integral_value(ROUND_HALF_UP))


def shown(amount):
    """An amount for a reader: "1,234.50"."""
    sign = "-" if amount < 0 else ""
    whole, rest = divmod(abs(amount), 100)
    return f"{sign}{whole:,}.{rest:02d}"
