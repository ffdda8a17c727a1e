import unittest

from invoicer.money import cents, percent, shown


class MoneyTest(unittest.TestCase):
    def test_reads_amounts(self):
        self.assertEqual(cents("1.50"), 150)
        self.assertEqual(cents(" 3 "), 300)
        self.assertEqual(cents("0.005"), 1)

    def test_refuses_what_is_no_amount(self):
        with self.assertRaises(ValueError):
            cents("a lot")

    def test_rounds_half_up(self):
        self.assertEqual(percent(250, 5), 13)
        self.assertEqual(percent(249, 5), 12)

    def test_shows_amounts(self):
        self.assertEqual(shown(123450), "1,234.50")
        self.assertEqual(shown(-5), "-0.05")
        self.assertEqual(shown(0), "0.00")
