import unittest

from basket import shipping, subtotal, total


class BasketTest(unittest.TestCase):
    def test_subtotal_counts_quantities(self):
        self.assertEqual(subtotal([(250, 2), (1000, 1)]), 1500)

    def test_a_small_basket_pays_shipping(self):
        self.assertEqual(total([(1000, 1)]), 1490)

    def test_shipping_is_free_from_fifty_on(self):
        self.assertEqual(shipping(5000), 0)
        self.assertEqual(total([(2500, 2)]), 5000)


if __name__ == "__main__":
    unittest.main()
