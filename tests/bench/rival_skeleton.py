#!/usr/bin/python3
"""Skeleton inference beside scipy and scikit-learn: same input, same output, one run.

usage: rival_skeleton.py SKELETON_SPEED [--hosts 256] [--stages 16] [--seconds 900]
                         [--snr 10 5 0 -5] [--tasks RNICS COUNT] [--json FILE]

Both get the throughput of hosts with eight RNICs each and the number of stages, and give a stage to
every RNIC: once with the rails of a host averaged, once for each rail alone.  Printed are the
adjusted Rand index against the truth and the CPU time, best of three.  Exit status 77: scipy or
scikit-learn is not installed.  Needs Debian's python3-numpy, python3-scipy, python3-sklearn.
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
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.optimize import linear_sum_assignment
    from scipy.signal import stft
    from sklearn.metrics import adjusted_rand_score
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

RAILS = 8
STEP_S, BURST_S, OFFSET_S, JITTER = 20.0, 3.0, 0.5, 0.03
FINE = 20


def throughput(hosts, stages, seconds, snr_db, seed):
    """Counters of every RNIC (hosts * 8, seconds), and the stage of every host."""
    rng = np.random.default_rng(seed)
    stage = rng.permutation(np.arange(hosts) % stages)
    clock = np.arange(seconds * FINE) / FINE
    lengths = STEP_S * (1 + JITTER * rng.standard_normal(int(seconds / STEP_S) + 10))
    starts = np.cumsum(lengths) - 2 * STEP_S
    bursts = np.zeros((stages, clock.size))
    for s in range(stages):
        for start in starts + OFFSET_S * s:
            bursts[s, (clock >= start) & (clock < start + BURST_S)] = 1.0
    counters = bursts.reshape(stages, seconds, FINE).mean(axis=2)
    rows = counters[stage].repeat(RAILS, axis=0)
    rows = rows + rows.std() * 10 ** (-snr_db / 20) * rng.standard_normal(rows.shape)
    return rows.astype(np.float32), stage


def rival(rows, stages):
    """Complex STFT, truncated SVD, average linkage, balanced k-means with assignment slots."""
    spectra = stft(rows, window="hann", nperseg=60, noverlap=45, boundary=None, padded=False,
                   detrend="constant")[2][:, 1:]
    features = np.concatenate([spectra.real, spectra.imag], axis=1).reshape(len(rows), -1)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    u, values, _ = np.linalg.svd(features, full_matrices=False)
    points = u[:, :stages] * values[:stages]
    label = fcluster(linkage(points, "average"), stages, "maxclust") - 1
    size = len(rows) // stages

    def centres():
        return np.stack([points[label == g].mean(0) if (label == g).any() else points[g]
                         for g in range(stages)])

    for _ in range(10):
        cost = ((points[:, None] - centres()[None]) ** 2).sum(2)
        slots = linear_sum_assignment(cost.repeat(size, axis=1))[1] // size
        if (slots == label).all():
            break
        label = slots
    return label


def best_cpu_ms(work):
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        result = work()
        best = min(best, time.process_time() - begin)
    return 1e3 * best, result


def mean_ari(stage, labels):
    """Of the rails, each by itself: names of stages may differ from rail to rail."""
    return float(np.mean([adjusted_rand_score(stage, labels[r::RAILS]) for r in range(RAILS)]))


def compare(program, hosts, stages, seconds, snr_db):
    rows, stage = throughput(hosts, stages, seconds, snr_db, seed=7)
    with tempfile.TemporaryDirectory() as folder:
        matrix, out = os.path.join(folder, "matrix"), os.path.join(folder, "labels")
        rows.tofile(matrix)
        ours = json.loads(subprocess.run(
            [program, matrix, str(hosts), str(stages), str(seconds), out],
            check=True, capture_output=True, text=True).stdout)
        labels = np.fromfile(out, dtype=np.int32).reshape(2, -1)
    per_host = rows.reshape(hosts, RAILS, seconds)
    host_ms, host = best_cpu_ms(lambda: rival(per_host.mean(axis=1), stages))
    rail_ms, rails = best_cpu_ms(
        lambda: np.stack([rival(per_host[:, r], stages) for r in range(RAILS)], axis=1))
    return {
        "rnics": hosts * RAILS, "stages": stages, "seconds": seconds, "snr_db": snr_db,
        "host": {"ours_ms": ours["host_ms"], "rival_ms": round(host_ms, 1),
                 "times_faster": round(host_ms / ours["host_ms"], 2),
                 "ours_ari": round(mean_ari(stage, labels[0]), 4),
                 "rival_ari": round(float(adjusted_rand_score(stage, host)), 4)},
        "rail": {"ours_ms": ours["rail_ms"], "rival_ms": round(rail_ms, 1),
                 "times_faster": round(rail_ms / ours["rail_ms"], 2),
                 "ours_ari": round(mean_ari(stage, labels[1]), 4),
                 "rival_ari": round(mean_ari(stage, rails.reshape(-1)), 4)},
        "whole_inference_ms": ours["infer_ms"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--hosts", type=int, default=256)
    parser.add_argument("--stages", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=900)
    parser.add_argument("--snr", type=float, nargs="+", default=[10, 5, 0, -5])
    parser.add_argument("--tasks", type=int, nargs=2)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    results = {"points": []}
    for snr_db in arguments.snr:
        point = compare(arguments.program, arguments.hosts, arguments.stages, arguments.seconds,
                        snr_db)
        results["points"].append(point)
        for mode in ("host", "rail"):
            p = point[mode]
            print(f"{point['rnics']} RNICs x {point['seconds']} s, {point['stages']} stages, "
                  f"{snr_db:g} dB, {mode}: ours {p['ours_ms']:.1f} ms, ARI {p['ours_ari']:.3f}; "
                  f"scipy + scikit-learn {p['rival_ms']:.1f} ms, ARI {p['rival_ari']:.3f}; "
                  f"{p['times_faster']:.1f} times faster")
        print(f"  everything, the number of stages not given: {point['whole_inference_ms']:.1f} ms")
    if arguments.tasks:
        run = subprocess.run([arguments.program, "--tasks", *map(str, arguments.tasks)],
                             check=True, capture_output=True, text=True)
        results["cluster"] = json.loads(run.stdout)
        print(f"cluster: {run.stdout.strip()}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
