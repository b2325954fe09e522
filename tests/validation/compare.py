#!/usr/bin/env python3
"""Puts the RTTs of one validation case side by side: ns-3, the packet mode, the fast mode.

    compare.py --out FILE CASE_DIRECTORY...

A case directory holds one RTT in ns a line (-1: lost) in packet.txt, fast.txt and, if ns-3 was run,
ns3.txt; its name is KIND-HOSTS-SEED. Bounds: 5 % on mean and median, 15 % on the 99th percentile.
Exit status: 0 the packet mode is within them of ns-3 everywhere and the fast mode within them of
the packet mode, 1 not, 2 wrong usage.
"""

import argparse
import bisect
import json
import pathlib
import sys

BOUNDS = {"mean": 0.05, "p50": 0.05, "p99": 0.15}
# What is judged, against what.
PAIRS = [("packet", "ns3"), ("fast", "packet")]


def quantile(ordered, share):
    """The smallest value with at least `share` of the values at or below it."""
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]


def summary(rtts):
    answered = sorted(rtt for rtt in rtts if rtt >= 0)
    if not answered:
        return {"count": 0, "lost": len(rtts)}
    return {
        "count": len(answered),
        "lost": len(rtts) - len(answered),
        "mean": sum(answered) / len(answered),
        "p50": quantile(answered, 0.5),
        "p99": quantile(answered, 0.99),
    }


def ks_distance(first, second):
    """Largest difference of the two empirical distribution functions."""
    a = sorted(rtt for rtt in first if rtt >= 0)
    b = sorted(rtt for rtt in second if rtt >= 0)
    if not a or not b:
        return 1.0
    return max(
        abs(bisect.bisect_right(a, x) / len(a) - bisect.bisect_right(b, x) / len(b))
        for x in sorted(set(a) | set(b))
    )


def wait_errors(found, wanted):
    """The harder question: relative errors of what exceeds the shortest RTT of `wanted`."""
    base = min((rtt for rtt in wanted if rtt >= 0), default=0)
    a, b = (summary([max(0, rtt - base) if rtt >= 0 else -1 for rtt in side]) for side in (found, wanted))
    return {n: a[n] / b[n] - 1 for n in BOUNDS if a["count"] and b["count"] and b[n] > 0}


def judge(found, wanted):
    """Relative errors, and whether all are within the bounds."""
    if not found["count"] or not wanted["count"]:
        return {"within": False}
    errors = {name: found[name] / wanted[name] - 1 for name in BOUNDS}
    return {**errors, "within": all(abs(errors[n]) <= BOUNDS[n] for n in BOUNDS)}


def compare(rtts):
    """`rtts`: name -> list of RTTs in ns. Returns the case's result."""
    result = {"rtt_ns": {name: summary(values) for name, values in rtts.items()}, "judged": {}}
    for found, wanted in PAIRS:
        if found not in rtts or wanted not in rtts:
            continue
        verdict = judge(result["rtt_ns"][found], result["rtt_ns"][wanted])
        verdict["wait"] = wait_errors(rtts[found], rtts[wanted])
        verdict["ks_distance"] = ks_distance(rtts[found], rtts[wanted])
        result["judged"][f"{found}/{wanted}"] = verdict
    if "ns3" in rtts and "packet" in rtts:
        pairs = list(zip(rtts["packet"], rtts["ns3"]))
        both = [abs(a - b) for a, b in pairs if a >= 0 and b >= 0]
        result["largest_difference_ns"] = max(both, default=None)
        result["equal_to_10_ns_ratio"] = sum(d <= 10 for d in both) / max(1, len(both))
    return result


def failed(results):
    return [
        f"{case}: {pair}"
        for case, result in results.items()
        for pair, verdict in result["judged"].items()
        if not verdict["within"]
    ]


def table(results):
    lines = [
        "| case | hosts | | mean | p50 | p99 | wait, mean | KS | within |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for case, result in results.items():
        kind, hosts, _ = case.rsplit("-", 2)
        for name, row in result["rtt_ns"].items():
            if not row["count"]:
                continue
            lines.append(
                f"| {kind} | {hosts} | {name}, us | {row['mean'] / 1e3:.3f} | {row['p50'] / 1e3:.3f} "
                f"| {row['p99'] / 1e3:.3f} | | | |"
            )
        for pair, verdict in result["judged"].items():
            if "mean" not in verdict:
                lines.append(f"| {kind} | {hosts} | {pair} | | | | | | no answers |")
                continue
            wait = f"{verdict['wait']['mean']:+.1%}" if "mean" in verdict["wait"] else ""
            lines.append(
                f"| {kind} | {hosts} | {pair} | {verdict['mean']:+.2%} | {verdict['p50']:+.2%} "
                f"| {verdict['p99']:+.2%} | {wait} | {verdict['ks_distance']:.3f} "
                f"| {'yes' if verdict['within'] else 'no'} |"
            )
    return "\n".join(lines)


def read_case(directory):
    rtts = {}
    for name in ("ns3", "packet", "fast"):
        path = directory / f"{name}.txt"
        if path.exists():
            rtts[name] = [int(line) for line in path.read_text().split()]
    return rtts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--command", default="tools/validate.sh")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    results = {}
    for directory in arguments.cases:
        result = compare(read_case(directory))
        for tool in ("packet", "ns3"):
            cost = directory / f"{tool}.json"
            if cost.exists():
                result.setdefault("cost", {})[tool] = json.loads(cost.read_text())
        results[directory.name] = result
    document = {
        "command": arguments.command,
        "commit": arguments.commit,
        "bounds": BOUNDS,
        "cases": results,
    }
    arguments.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(table(results))
    misses = failed(results)
    for miss in misses:
        print(f"out of bounds: {miss}")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
