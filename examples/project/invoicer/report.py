"""The invoice as text."""

from invoicer.invoice import BULK_DISCOUNT, BULK_FROM, taxes, total
from invoicer.money import shown

WIDTH = 40


def row(label, amount):
    """A label on the left and an amount on the right."""
    return label.ljust(WIDTH - 10) + shown(amount).rjust(10)


def report(lines):
    """One row a line, then discounts, taxes and the total."""
    rows = [row(f"{line.pieces} x {line.name}", line.gross()) for line in lines]
    saved = sum(line.discount() for line in lines)
    if saved:
        rows.append(row(f"{BULK_DISCOUNT} % off from {BULK_FROM} pieces", -saved))
    rows += [row(f"Tax {rate} %", amount) for rate, amount in taxes(lines).items()]
    rows += ["-" * WIDTH, row("Total", total(lines))]
    return "\n".join(rows)
