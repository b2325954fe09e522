#!/usr/bin/env python3
"""Runs clang-tidy on the product's sources, and remembers what was clean.

A source is skipped if nothing it depends on has changed since it last passed: its own text, our
headers that it includes (as the last build saw them), its compile command and .clang-tidy.  Prints
the findings only.  Exit status: 0 clean, 1 findings, 2 there is no build to take commands from.

Most of the time goes into the headers of others, so the sources of one folder are examined a few
at a time, included one after the other into one file.  Where that does not compile (two sources
give one name to different things) or finds anything, each half of them is tried, down to single
sources: what is printed is always about a source by itself.
"""

import argparse
import concurrent.futures
import collections
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

FOLDERS = ("sim", "model", "faults", "skeleton", "detectors", "planner", "scenarios", "tools")
CLANG_TIDY = "clang-tidy-14"
GROUP_SIZE = 8


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


def flags_of(entry):
    """The flags of a compile command, without files and without g++'s precompiled header."""
    with_value = ("-o", "-c", "-MF", "-MT", "-include")
    words = shlex.split(entry["command"])
    start = next(i for i, word in enumerate(words) if word.startswith("-"))
    flags, skip = ["-Wno-unknown-warning-option"], False  # the others are g++'s
    for word in words[start:]:
        if skip or word in (*with_value, "-MD", "-Winvalid-pch"):
            skip = word in with_value
            continue
        flags.append(word)
    return flags


def groups_of(sources, commands):
    """Sources of one folder with the same flags, at most GROUP_SIZE at a time."""
    alike = collections.defaultdict(list)
    for source in sorted(sources):
        alike[(source.parent, tuple(flags_of(commands[source])))].append(source)
    for (_, flags), members in alike.items():
        for i in range(0, len(members), GROUP_SIZE):
            yield list(flags), members[i : i + GROUP_SIZE]


def run_clang_tidy(file, flags, *options):
    return subprocess.run(
        [CLANG_TIDY, "--quiet", "--use-color=0", *options, str(file), "--", *flags],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def clean_together(flags, members, folder):
    """Whether the sources, included into one file, compile and have no findings."""
    name = hashlib.sha256("".join(map(str, members)).encode()).hexdigest()[:16]
    together = folder / f"{name}.cpp"
    together.write_text("".join(f'#include "{member}"\n' for member in members), encoding="utf-8")
    options = ("--checks=-bugprone-suspicious-include", "--header-filter=.*")
    return run_clang_tidy(together, flags, *options).returncode == 0


def findings_of(flags, members, folder):
    """Findings by source; empty text for a clean one."""
    if len(members) == 1:
        done = run_clang_tidy(members[0], flags)
        failed = f"{members[0]}: {CLANG_TIDY} failed without a word\n"
        return {members[0]: (done.stdout or done.stderr or failed) if done.returncode else ""}
    if clean_together(flags, members, folder):
        return dict.fromkeys(members, "")
    half = len(members) // 2
    return {
        **findings_of(flags, members[:half], folder),
        **findings_of(flags, members[half:], folder),
    }


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

    # Below the root, so that its .clang-tidy holds for what is written there.
    together = build / "clang_tidy_together"
    together.mkdir(exist_ok=True)
    started = time.monotonic()
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        groups = groups_of(waiting, commands)
        for found in pool.map(lambda group: findings_of(*group, together), groups):
            for source, findings in found.items():
                if findings:
                    failures += 1
                    print(findings, flush=True)
                    continue
                waiting[source].touch()
                after_s = time.monotonic() - started
                print(f"{source.relative_to(root)}: clean ({after_s:.0f} s)", flush=True)
    print(f"clang-tidy: {failures} sources with findings")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
