"""Order lines, and what they cost."""

from dataclasses import dataclass

from invoicer.money import cents, percent

BULK_FROM = 10
BULK_DISCOUNT = 5


@dataclass(frozen=True)
class Line:
    """Some pieces of one thing. `price` is for one piece, in cents; `tax` is a rate in percent."""

    name: str
    pieces: int
    price: int
    tax: int

    def gross(self):
        return self.pieces * self.price

    def discount(self):
        """What a customer saves by buying many."""
        if self.pieces > BULK_FROM:
            return percent(self.gross(), BULK_DISCOUNT)
        return 0

    def net(self):
        return self.gross() - self.discount()


def read_line(text):
    """A line of an order file: name, pieces, price, tax."""
    fields = [field.strip() for field in text.split(",")]
    if len(fields) != 4:
        raise ValueError(f"a line needs 4 fields, this one has {len(fields)}: {text!r}")
    name, pieces, price, tax = fields
    return Line(name, int(pieces), cents(price), int(tax))


def read_lines(texts):
    """All lines that are neither empty nor a comment."""
    return [read_line(text) for text in texts if text.strip() and not text.startswith("#")]


def taxes(lines):
    """The tax to pay by rate, lowest rate first. Tax is taken from the sum of a rate, not line by line."""
    sums = {}
    for line in lines:
        sums[line.tax] = sums.get(line.tax, 0) + line.net()
    return {rate: percent(sums[rate], rate) for rate in sorted(sums)}


def total(lines):
    """What the customer pays."""
    return sum(line.net() for line in lines) + sum(taxes(lines).values())
