#!/usr/bin/env python3
"""Runs the commands that the documents show.

Convention, in every document of DOCUMENTS:
  - A block fenced as ```sh holds commands on lines that start with "$ "; the lines after a command
    are its output, for the reader (not compared).  A line that ends in a backslash goes on.
  - A command must exit with status 0, or end in a comment "# exits N".
  - A command that cannot run here ends in a comment "# not run: reason".
  - Building, testing and the scripts that do both are only checked for existence (CI runs them);
    tools/quickstart.sh is run with the build that is there.
  - A block fenced as ```yaml whose first line is "# A test runs this with NAME=value ..." is a CI
    system's file: the lines of `run:` and `script:` are commands too, with the variables of `env:`
    and `variables:`, and those of the first line instead where it names them.
Commands run in order in one scratch copy of the source tree, where build/release/bonescan is the
program under test, so a command may use what an earlier one of the same document left behind.
Relative links must lead to a file.
"""

import argparse
import dataclasses
import json
import os
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
    "tools/README.md",
)
TIMEOUT_S = 240
NOT_COPIED = shutil.ignore_patterns("build", "runs", "install", ".git", ".cache", "__pycache__")
# What exists in the repository under the name that is shown; run by CI, not by this test.
SCRIPTS = re.compile(r"^(?:CI=true )?(tools/(?:check|mutate|install_packages)\.sh|\.ci/run)\b")
BUILD_TOOLS = re.compile(r"^(?:cmake|ctest)\b")
CI_MARK = re.compile(r"^# A test runs this(?: with (.*))?$")
CI_SCRIPT = re.compile(r"^(\s*)(- )?(run|script):\s*(.*)$")
CI_VARIABLES = re.compile(r"^(\s*)(?:env|variables):\s*$")
FETCH = re.compile(r"^(?:git clone|cd)\b")


@dataclasses.dataclass
class Command:
    document: str
    line: int
    text: str
    expected_status: int = 0
    not_run: str = ""
    variables: dict = dataclasses.field(default_factory=dict)

    def place(self):
        return f"{self.document}:{self.line}"


def parse(document, text):
    """Returns (commands, problems) of one document."""
    commands, problems = [], []
    fence, opened, seen, block = None, 0, 0, []
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        match = re.match(r"^\s*```+\s*(\S*)", line)
        if match and fence is None:
            fence, opened, seen, block = match.group(1), number, 0, []
        elif match:
            if fence == "sh" and seen == 0:
                problems.append(f"{document}:{opened}: an sh block without a \"$ \" line")
            if fence == "yaml":
                commands += ci_commands(document, opened, block, problems)
            fence = None
        elif fence == "sh" and line.startswith("$ "):
            seen += 1
            start, command = number, line[2:]
            while command.endswith("\\") and number < len(lines):
                command = command[:-1] + lines[number]
                number += 1
            commands.append(interpret(document, start, command, problems))
        elif fence is not None:
            block.append(line)
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


def indent_of(line):
    return len(line) - len(line.lstrip())


def deeper_lines(block, index, indent):
    """The lines after `index` that are indented by more than `indent`, with their places."""
    found = []
    for place in range(index + 1, len(block)):
        if block[place].strip() and indent_of(block[place]) <= indent:
            break
        found.append((place, block[place]))
    return found


def script_items(block, index, match):
    """The commands of one `run:` or `script:`, each as (place, list of lines)."""
    indent = len(match.group(1)) + len(match.group(2) or "")
    if match.group(4) not in ("", "|"):
        return [(index, [match.group(4)])]
    body = [(place, line) for place, line in deeper_lines(block, index, indent) if line.strip()]
    if match.group(4) == "|":
        return [(body[0][0], [line.strip() for _, line in body])] if body else []
    items = []
    for place, line in body:
        text = line.strip()
        if text.startswith("#"):
            continue
        if text.startswith("- "):
            items.append((place, [] if text == "- |" else [text[2:]]))
        elif items:
            items[-1][1].append(text)
    return items


def ci_commands(document, opened, block, problems):
    """The commands of a CI system's file, if its first line says that a test runs it."""
    mark = CI_MARK.match(block[0]) if block else None
    if not mark:
        return []
    variables, commands = {}, []
    for index, line in enumerate(block):
        heading = CI_VARIABLES.match(line)
        for _, entry in deeper_lines(block, index, len(heading.group(1))) if heading else []:
            name, _, value = entry.strip().partition(": ")
            variables[name] = re.sub(r"\s+#.*$", "", value).strip("\"'")
    variables.update(pair.partition("=")[::2] for pair in (mark.group(1) or "").split())
    for index, line in enumerate(block):
        match = CI_SCRIPT.match(line)
        for place, lines in script_items(block, index, match) if match else []:
            parts = [interpret(document, opened + place + 1, text, problems) for text in lines]
            ready = [part for part in parts if not part.not_run]
            command = ready[0] if ready else parts[0]
            command.text = "\n".join(part.text for part in ready or parts)
            command.variables = variables
            commands.append(command)
    if not commands:
        problems.append(f"{document}:{opened}: a CI file without a command")
    return commands


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
            env={**os.environ, **command.variables},
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
