import unittest

from invoicer.invoice import Line
from invoicer.report import WIDTH, report, row


class ReportTest(unittest.TestCase):
    def test_rows_have_one_width(self):
        self.assertEqual(len(row("Pen", 100)), WIDTH)

    def test_names_the_discount(self):
        text = report([Line("Pen", 12, 100, 20)])
        self.assertIn("5 % off from 10 pieces", text)
        self.assertIn("-0.60", text)

    def test_says_nothing_of_a_discount_that_is_none(self):
        self.assertNotIn("off", report([Line("Pen", 2, 100, 20)]))

    def test_ends_with_the_total(self):
        self.assertTrue(report([Line("Atlas", 1, 1000, 10)]).endswith("11.00"))
