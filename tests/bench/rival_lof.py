#!/usr/bin/python3
"""Outlier factors of many pairs beside vectorised numpy: same input, same definition, one run.

usage: rival_lof.py LOF_SPEED [--pairs 20000] [--neighbours 5] [--json FILE]

Both get ten history windows and one query of seven features for every pair, and give one factor per
pair: floored distances, exactly k neighbours (nothing ties in this input).  Printed are pair
evaluations per second, best of five, and the largest difference of the answers.  Exit status 77:
numpy is not installed.  Needs Debian's python3-numpy.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

# One thread: processor time is compared.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

HISTORY, FEATURES, FLOOR, BATCH = 10, 7, 0.05, 2000


def rival(history, query, k):
    """history (P, n, 7), query (P, 7): factors (P,). Distances by the Gram matrix, as is usual."""
    squares = np.einsum("pij,pij->pi", history, history)
    gram = np.matmul(history, history.transpose(0, 2, 1))
    distance = np.sqrt(np.maximum(squares[:, :, None] + squares[:, None, :] - 2 * gram, 0))
    i = np.arange(history.shape[1])
    distance[:, i, i] = np.inf
    near = np.argpartition(distance, k - 1, axis=2)[:, :, :k]
    near_distance = np.take_along_axis(distance, near, axis=2)
    k_distance = near_distance.max(axis=2)
    theirs = np.take_along_axis(k_distance[:, None, :].repeat(history.shape[1], 1), near, axis=2)
    reach = np.maximum(np.maximum(near_distance, theirs), FLOOR).mean(axis=2)
    to_query = np.sqrt(((history - query[:, None, :]) ** 2).sum(axis=2))
    near = np.argpartition(to_query, k - 1, axis=1)[:, :k]
    query_reach = np.maximum(np.maximum(np.take_along_axis(to_query, near, 1),
                                        np.take_along_axis(k_distance, near, 1)), FLOOR)
    return (1 / np.take_along_axis(reach, near, 1)).mean(axis=1) * query_reach.mean(axis=1)


def rival_all(history, query, k):
    return np.concatenate([rival(history[a:a + BATCH], query[a:a + BATCH], k)
                           for a in range(0, len(query), BATCH)])


def best_cpu_s(work):
    best, result = float("inf"), None
    for _ in range(5):
        begin = time.process_time()
        result = work()
        best = min(best, time.process_time() - begin)
    return best, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--pairs", type=int, default=20000)
    parser.add_argument("--neighbours", type=int, default=5)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    pairs, k = arguments.pairs, arguments.neighbours
    rng = np.random.default_rng(1)
    history = rng.normal(0, 1, (pairs, HISTORY, FEATURES))
    query = rng.normal(0, 1, (pairs, FEATURES))
    with tempfile.TemporaryDirectory() as folder:
        matrix, out = os.path.join(folder, "matrix"), os.path.join(folder, "factors")
        np.concatenate([history, query[:, None, :]], axis=1).tofile(matrix)
        ours = json.loads(subprocess.run([arguments.program, matrix, str(pairs), str(k), out],
                                         check=True, capture_output=True, text=True).stdout)
        factors = np.fromfile(out)
    results = {"pairs": pairs, "neighbours": k, "ours_per_s": ours["factors_per_s"],
               "kernel": ours["kernel"]}
    for dtype in (np.float64, np.float32):
        h, q = history.astype(dtype), query.astype(dtype)
        seconds, theirs = best_cpu_s(lambda: rival_all(h, q, k))
        name = np.dtype(dtype).name
        results[name] = {"rival_per_s": round(pairs / seconds),
                         "times_faster": round(ours["factors_per_s"] * seconds / pairs, 2),
                         "largest_relative_difference": float(np.abs(theirs / factors - 1).max())}
        print(f"{pairs} pairs, k = {k}: ours {ours['factors_per_s'] / 1e6:.2f} M/s "
              f"({ours['kernel']}), numpy {name} {pairs / seconds / 1e6:.3f} M/s: "
              f"{results[name]['times_faster']:.1f} times faster; largest relative difference "
              f"{results[name]['largest_relative_difference']:.1e}")
    if results["float64"]["largest_relative_difference"] > 1e-9:
        sys.exit("the answers differ")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
