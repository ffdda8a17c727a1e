import unittest

from invoicer.invoice import Line, read_line, read_lines, taxes, total


class LineTest(unittest.TestCase):
    def test_few_pieces_cost_the_full_price(self):
        self.assertEqual(Line("Pen", 9, 100, 20).net(), 900)

    def test_ten_pieces_are_cheaper(self):
        self.assertEqual(Line("Pen", 10, 100, 20).net(), 950)

    def test_many_pieces_are_cheaper(self):
        self.assertEqual(Line("Pen", 40, 100, 20).discount(), 200)

    def test_reads_a_line(self):
        self.assertEqual(read_line("Pen, 12, 1.50, 20"), Line("Pen", 12, 150, 20))

    def test_refuses_a_short_line(self):
        with self.assertRaisesRegex(ValueError, "4 fields"):
            read_line("Pen, 12")

    def test_skips_comments_and_empty_lines(self):
        self.assertEqual(len(read_lines(["# order", "", "Pen,1,1.00,20"])), 1)


class TotalTest(unittest.TestCase):
    def setUp(self):
        self.lines = [Line("Pen", 20, 150, 20), Line("Atlas", 1, 3990, 10)]

    def test_taxes_by_rate(self):
        self.assertEqual(taxes(self.lines), {10: 399, 20: 570})

    def test_total(self):
        self.assertEqual(total(self.lines), 2850 + 3990 + 399 + 570)
