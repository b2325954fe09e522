#!/usr/bin/env python3
"""The comparison itself: known quantiles and distances, and that it can fail."""

import sys
import unittest

sys.dont_write_bytecode = True
import compare  # noqa: E402


class CompareTest(unittest.TestCase):
    def test_quantiles_are_values_that_occur(self):
        row = compare.summary(list(range(1, 101)) + [-1])
        self.assertEqual((row["p50"], row["p99"], row["mean"]), (50, 99, 50.5))
        self.assertEqual((row["count"], row["lost"]), (100, 1))

    def test_distance_is_the_largest_gap_of_the_distributions(self):
        self.assertEqual(compare.ks_distance([1, 2, 3, 4], [1, 2, 3, 4]), 0)
        self.assertEqual(compare.ks_distance([1, 2, 3, 4], [3, 4, 5, 6]), 0.5)
        self.assertEqual(compare.ks_distance([1, 2], [3, 4]), 1)

    def test_a_case_outside_the_bounds_fails(self):
        base = [1000 + i for i in range(1000)]
        good = {"c": compare.compare({"packet": base, "ns3": [v + 20 for v in base]})}
        self.assertEqual(compare.failed(good), [])
        slow = {"c": compare.compare({"packet": base, "ns3": [v + 100 for v in base]})}
        self.assertEqual(compare.failed(slow), ["c: packet/ns3"])
        tail = base[:-20] + [v + 1000 for v in base[-20:]]
        self.assertEqual(
            compare.failed({"c": compare.compare({"packet": tail, "ns3": base})}), ["c: packet/ns3"]
        )

    def test_nothing_answered_is_not_within_bounds(self):
        result = compare.compare({"packet": [-1, -1], "ns3": [5, 5]})
        self.assertEqual(compare.failed({"c": result}), ["c: packet/ns3"])

    def test_a_fast_mode_outside_the_bounds_fails(self):
        result = compare.compare({"packet": [10, 10], "fast": [20, 20]})
        self.assertFalse(result["judged"]["fast/packet"]["within"])
        self.assertEqual(compare.failed({"c": result}), ["c: fast/packet"])


if __name__ == "__main__":
    unittest.main()
