#!/usr/bin/env python3
"""Writes the flow traces that localizers are compared on.

    flow_traces.py FOLDER [--flows N ...] [--seeds N ...] [--faults N ...] [--check SUMS]

A fat tree of degree 10 with 15 hosts a rack (750 hosts, 2500 directed links), of which 0, 1, 2, 4 or
8 lose 0.2 to 2 % of the packets in silence; every other link loses up to 0.01 %.  Flows go between
random hosts over a random shortest path; their sizes are Pareto (shape 1.05, mean about 200 KiB,
below 100 MiB).  Draws are made in the order of the reference traces, so the files are equal to them
byte by byte; --check compares with a file of SHA-256 sums.  Needs numpy (the reference: 1.24.2).

Lines: Failing_link FROM TO RATE; FP SWITCH...; FID SOURCE TARGET FIRST LAST BYTES START;
FPT SWITCH...; SS TIME PACKETS LOST 0.
"""
import argparse
import hashlib
import math
import pathlib
import random
import sys

try:
    import numpy
except ImportError:
    print("flow_traces: needs numpy", file=sys.stderr)
    sys.exit(77)

HALF = 5
PODS = 2 * HALF
RACKS = PODS * HALF
HOSTS_PER_RACK = 15
FIRST_HOST = 10_000
SHAPE = 1.05
SCALE = 200 * 1024 * (SHAPE - 1) / SHAPE
LARGEST = 100 * 1024 * 1024
PACKET = 1500


class Graph:
    """Neighbours in the order in which cables were laid."""

    def __init__(self, cables):
        self.next = {}
        for a, b in cables:
            self.next.setdefault(a, {})[b] = None
            self.next.setdefault(b, {})[a] = None

    def cables(self):
        done = set()
        found = []
        for a, others in self.next.items():
            found += [(a, b) for b in others if b not in done]
            done.add(a)
        return found

    def shortest_paths(self, source, target):
        """Breadth first, then all ways back: the first neighbour first."""
        before = {source: []}
        depth = {source: 0}
        front = [source]
        while front:
            following = []
            for a in front:
                for b in self.next[a]:
                    if b not in depth:
                        depth[b] = depth[a] + 1
                        before[b] = []
                        following.append(b)
                    if depth[b] == depth[a] + 1:
                        before[b].append(a)
            front = following
        ways = [[target]]
        while ways[0][0] != source:
            ways = [[a, *way] for way in ways for a in before[way[0]]]
        return ways


def switch_cables():
    cables = []
    for pod in range(PODS):
        aggs = [RACKS + pod * HALF + i for i in range(HALF)]
        cables += [(agg, pod * HALF + rack) for agg in aggs for rack in range(HALF)]
        cables += [(agg, 2 * RACKS + i * HALF + core) for i, agg in enumerate(aggs) for core in range(HALF)]
    return Graph(cables).cables()


class World:
    def __init__(self):
        between = switch_cables()
        self.hosts = [FIRST_HOST + i for i in range(RACKS * HOSTS_PER_RACK)]
        self.rack = {host: i // HOSTS_PER_RACK for i, host in enumerate(self.hosts)}
        cables = Graph(between + [(host, self.rack[host]) for host in self.hosts]).cables()
        self.links = cables + [(b, a) for a, b in cables]
        switches = Graph(between)
        self.paths = {}
        for a in range(RACKS):
            for b in range(RACKS):
                self.paths[a, b] = [[a]] if a == b else switches.shortest_paths(a, b)

    def path_lines(self):
        for (a, b), ways in self.paths.items():
            if a != b:
                for way in ways:
                    yield "FP " + " ".join(map(str, way))


def flow_size(rng):
    while True:
        size = (rng.pareto(SHAPE) + 1) * SCALE
        if size < LARGEST:
            return size


def trace_lines(world, faults, seed, flows):
    rng = numpy.random.default_rng(1000 * faults + seed)
    random.seed(1000 * faults + seed)
    links = list(world.links)
    random.shuffle(links)
    loss = {link: rng.uniform(0, 1e-4) for link in links}
    for link in links[:faults]:
        loss[link] = rng.uniform(0.002, 0.02)
        yield f"Failing_link {link[0]} {link[1]} {loss[link]}"
    yield from world.path_lines()
    for _ in range(flows):
        source, target = (world.hosts[i] for i in rng.choice(len(world.hosts), 2, replace=False))
        packets = math.ceil(flow_size(rng) / PACKET)
        ways = world.paths[world.rack[source], world.rack[target]]
        way = ways[rng.integers(len(ways))]
        whole = [source, *way, target]
        good = 1.0
        for hop in zip(whole, whole[1:]):
            good *= 1 - loss[hop]
        lost = rng.binomial(packets, 1 - good)
        yield f"FID  {source} {target} {way[0]} {way[-1]} {PACKET * packets} 0.0"
        yield "FPT " + " ".join(map(str, way))
        yield f"SS  {round(1000 * rng.random(), 3)} {packets} {lost} 0"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--flows", type=int, nargs="+", default=[12_500, 50_000])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(1, 9)))
    parser.add_argument("--faults", type=int, nargs="+", default=[0, 1, 2, 4, 8])
    parser.add_argument("--check", type=pathlib.Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    known = {}
    if options.check:
        known = dict(reversed(line.split()) for line in options.check.read_text().splitlines())
    world = World()
    different = 0
    for flows in options.flows:
        for faults in options.faults:
            for seed in options.seeds:
                name = f"n{flows}_f{faults}_s{seed}"
                text = "\n".join(trace_lines(world, faults, seed, flows)) + "\n"
                (options.folder / name).write_text(text)
                digest = hashlib.sha256(text.encode()).hexdigest()
                print(digest, name, flush=True)
                if known.get(name, digest) != digest:
                    print(f"flow_traces: {name} is not what it was", file=sys.stderr)
                    different += 1
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
