#!/usr/bin/env python3
"""Runs the commands that the documents show.

Convention, in every document of DOCUMENTS:
  - A block fenced as ```sh holds commands on lines that start with "$ "; the lines after a command
    are its output, for the reader (not compared).  A line that ends in a backslash goes on.
  - A command must exit with status 0, or end in a comment "# exits N".
  - A command that cannot run here ends in a comment "# not run: reason".
  - Building, testing and the scripts that do both are only checked for existence (CI runs them);
    tools/quickstart.sh is run with the build that is there.
Commands run in order in one scratch copy of the source tree, where build/release/bonescan is the
program under test, so a command may use what an earlier one of the same document left behind.
Relative links must lead to a file.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "scenarios/README.md",
    "tests/README.md",
    "results/README.md",
)
TIMEOUT_S = 240
NOT_COPIED = shutil.ignore_patterns("build", "runs", "install", ".git", ".cache", "__pycache__")
# What exists in the repository under the name that is shown; run by CI, not by this test.
SCRIPTS = re.compile(r"^(?:CI=true )?(tools/(?:check|mutate|install_packages)\.sh|\.ci/run)\b")
BUILD_TOOLS = re.compile(r"^(?:cmake|ctest)\b")
FETCH = re.compile(r"^(?:git clone|cd)\b")


@dataclasses.dataclass
class Command:
    document: str
    line: int
    text: str
    expected_status: int = 0
    not_run: str = ""

    def place(self):
        return f"{self.document}:{self.line}"


def parse(document, text):
    """Returns (commands, problems) of one document."""
    commands, problems = [], []
    fence, opened, seen = None, 0, 0
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        match = re.match(r"^\s*```+\s*(\S*)", line)
        if match and fence is None:
            fence, opened, seen = match.group(1), number, 0
        elif match:
            if fence == "sh" and seen == 0:
                problems.append(f"{document}:{opened}: an sh block without a \"$ \" line")
            fence = None
        elif fence == "sh" and line.startswith("$ "):
            seen += 1
            start, command = number, line[2:]
            while command.endswith("\\") and number < len(lines):
                command = command[:-1] + lines[number]
                number += 1
            commands.append(interpret(document, start, command, problems))
    if fence is not None:
        problems.append(f"{document}:{opened}: a fence that is never closed")
    return commands, problems


def interpret(document, line, text, problems):
    command = Command(document, line, text)
    status = re.search(r"\s+# exits (\d+)$", text)
    not_run = re.search(r"\s+# not run:(.*)$", text)
    if status:
        command.text, command.expected_status = text[: status.start()], int(status.group(1))
    elif not_run:
        command.text, command.not_run = text[: not_run.start()], not_run.group(1).strip()
        if not command.not_run:
            problems.append(f"{command.place()}: \"not run\" without a reason")
    return command


def dead_links(document, text, root):
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    problems = []
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
        if "://" not in target and not (root / document).parent.joinpath(target).exists():
            problems.append(f"{document}: a link to {target}, which does not exist")
    return problems


def build_tool_problem(command, root):
    """Presets and test folders that a build command names must exist."""
    presets = {}
    preset_file = root / "CMakePresets.json"
    if preset_file.exists():
        content = json.loads(preset_file.read_text(encoding="utf-8"))
        for kind in ("configurePresets", "buildPresets", "testPresets", "workflowPresets"):
            presets.update({preset["name"]: kind for preset in content.get(kind, [])})
    for name in re.findall(r"--preset[ =](\S+)", command.text):
        if name not in presets:
            return f"{command.place()}: there is no preset {name}"
    return ""


def execute(command, work):
    text = command.text
    if text.strip() == "tools/quickstart.sh":
        text += " --no-build"
    try:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{command.place()}: still running after {TIMEOUT_S} s: {text}"
    if done.returncode != command.expected_status:
        output = done.stdout.decode("utf-8", "replace")[-2000:]
        return (
            f"{command.place()}: exit status {done.returncode}, "
            f"expected {command.expected_status}: {text}\n{output}"
        )
    return ""


def check_command(command, root, work):
    """Returns (what was done, problem)."""
    if command.not_run:
        return f"not run ({command.not_run})", ""
    script = SCRIPTS.match(command.text)
    if script:
        missing = not (root / script.group(1)).exists()
        problem = f"{command.place()}: {script.group(1)} does not exist" if missing else ""
        return "exists", problem
    if BUILD_TOOLS.match(command.text):
        return "presets exist", build_tool_problem(command, root)
    if FETCH.match(command.text):
        return "not run (before there is a source tree)", ""
    return "ran", execute(command, work)


def check_document(document, root, binary):
    """Returns the problems of one document, after running its commands in a fresh copy."""
    text = (root / document).read_text(encoding="utf-8")
    commands, problems = parse(document, text)
    problems += dead_links(document, text, root)
    if not commands:
        return problems
    with tempfile.TemporaryDirectory(prefix="bonescan-docs-") as scratch:
        work = pathlib.Path(scratch) / "bonescan"
        shutil.copytree(root, work, ignore=NOT_COPIED, symlinks=True)
        (work / "build/release").mkdir(parents=True)
        if binary:
            shutil.copy2(binary, work / "build/release/bonescan")
        for command in commands:
            action, problem = check_command(command, root, work)
            print(f"{command.place()}: {'FAILED' if problem else action}: {command.text}")
            if problem:
                problems.append(problem)
    return problems


def check_all(root, binary):
    problems, found = [], 0
    for document in DOCUMENTS:
        if (root / document).exists():
            found += 1
            problems += check_document(document, root, binary)
    if found == 0:
        problems.append(f"{root} holds none of {', '.join(DOCUMENTS)}")
    return problems


def main():
    parser = argparse.ArgumentParser(description="Runs the commands that the documents show.")
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    problems = check_all(arguments.source.resolve(), arguments.binary)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
