#!/usr/bin/env python3
"""Runs clang-tidy on the product's sources, and remembers what was clean.

A source is skipped if nothing it depends on has changed since it last passed: its own text, our
headers that it includes (as the last build saw them), its compile command and .clang-tidy.  Prints
the findings only.  Exit status: 0 clean, 1 findings, 2 there is no build to take commands from.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

FOLDERS = ("sim", "model", "faults", "skeleton", "detectors", "scenarios", "tools")
CLANG_TIDY = "clang-tidy-14"


def our_sources(build, root):
    """Compile commands of the product, by source."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        source = pathlib.Path(entry["file"])
        if source.is_relative_to(root) and source.relative_to(root).parts[0] in FOLDERS:
            commands[source] = entry
    return commands


def our_headers(build, root):
    """Headers below `root` by object file, from ninja's log of dependencies."""
    text = subprocess.run(
        ["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True
    ).stdout
    headers, current = {}, None
    for line in text.splitlines():
        if line.startswith(" "):
            path = pathlib.Path(os.path.normpath(build / line.strip()))
            if path.is_relative_to(root) and not path.is_relative_to(build):
                current.append(path)
        elif ":" in line:
            current = headers.setdefault(line.split(":")[0], [])
    return headers


def key_of(entry, source, headers, config):
    digest = hashlib.sha256(config)
    digest.update(entry["command"].encode())
    for path in sorted({source, *headers}):
        digest.update(str(path).encode())
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def examine(source, build):
    """Returns the findings; empty if there are none."""
    done = subprocess.run(
        [
            CLANG_TIDY,
            "--quiet",
            "--use-color=0",
            "--extra-arg=-Wno-unknown-warning-option",  # the build's flags are g++'s
            "-p",
            str(build),
            str(source),
        ],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode == 0:
        return ""
    return done.stdout or done.stderr or f"{source}: {CLANG_TIDY} failed without a word\n"


def main():
    parser = argparse.ArgumentParser(description="Runs clang-tidy on the product's sources.")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    build = arguments.build.resolve()
    try:
        commands = our_sources(build, root)
        headers = our_headers(build, root)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"run_clang_tidy: {build} is not built: {error}", file=sys.stderr)
        return 2
    if not commands:
        print(f"run_clang_tidy: {build} compiles nothing of ours", file=sys.stderr)
        return 2

    stamps = build / "clang_tidy"
    stamps.mkdir(exist_ok=True)
    config = (root / ".clang-tidy").read_bytes()
    waiting = {}
    for source, entry in commands.items():
        stamp = stamps / key_of(entry, source, headers.get(entry.get("output", ""), ()), config)
        if stamp.exists():
            stamp.touch()
        else:
            waiting[source] = stamp
    print(f"clang-tidy: {len(waiting)} of {len(commands)} sources to examine", flush=True)

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        started = time.monotonic()
        futures = {pool.submit(examine, source, build): source for source in sorted(waiting)}
        for future in concurrent.futures.as_completed(futures):
            source, findings = futures[future], future.result()
            if findings:
                failures += 1
                print(findings, flush=True)
            else:
                waiting[source].touch()
                after_s = time.monotonic() - started
                print(f"{source.relative_to(root)}: clean ({after_s:.0f} s)", flush=True)
    print(f"clang-tidy: {failures} sources with findings")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
