#!/usr/bin/env python3
"""Documents that are wrong in one way each, to prove that the runner can fail."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import run_doc_commands  # noqa: E402


def sh(*lines):
    return "Text.\n```sh\n" + "\n".join(lines) + "\n```\n"


class RunnerTest(unittest.TestCase):
    def problems(self, text, name="README.md", files=()):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            for path in (name, *files):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text("#!/bin/bash\n", encoding="utf-8")
            (root / name).write_text(text, encoding="utf-8")
            (root / "CMakePresets.json").write_text(
                '{"configurePresets": [{"name": "release"}]}', encoding="utf-8"
            )
            with contextlib.redirect_stdout(io.StringIO()):
                return run_doc_commands.check_all(root, None)

    def expect_problem(self, text, *words, **more):
        problems = "\n".join(self.problems(text, **more))
        for word in words:
            self.assertIn(word, problems)

    def test_a_good_document_passes(self):
        text = sh("$ echo hello", "hello", "$ test -f README.md", "$ exit 2  # exits 2")
        self.assertEqual(self.problems(text), [])

    def test_a_failing_command_is_found_with_its_line(self):
        self.expect_problem(sh("$ true", "$ exit 3"), "README.md:4", "exit status 3")

    def test_a_failure_inside_a_pipe_is_found(self):
        self.expect_problem(sh("$ false | cat"), "exit status 1")

    def test_an_unexpected_success_is_found(self):
        self.expect_problem(sh("$ true  # exits 2"), "exit status 0, expected 2")

    def test_an_unknown_program_is_found(self):
        self.expect_problem(sh("$ build/release/no-such-program"), "exit status 127")

    def test_a_block_without_commands_is_found(self):
        self.expect_problem(sh("echo hello"), "README.md:2", "without")

    def test_other_blocks_are_left_alone(self):
        self.assertEqual(self.problems("```yaml\n$ false\n```\n```\n$ false\n```\n"), [])

    def ci(self, *lines):
        return "```yaml\n" + "\n".join(("# A test runs this with B=two C=here", *lines)) + "\n```\n"

    def test_the_lines_of_an_actions_file_run_with_their_variables(self):
        text = self.ci(
            "env:",
            "  A: one",
            "  B: ${{ github.base_ref }}",
            "jobs:",
            "  accuracy:",
            "    steps:",
            "      - uses: actions/checkout@v4",
            '      - run: test "$A $B $C" = "one two here"',
            "      - name: several lines",
            "        run: |",
            "          git clone nowhere  # not run: no network",
            "          x=1",
            '          test "$x" = 1',
            "      - run: false  # exits 1",
        )
        self.assertEqual(self.problems(text), [])

    def test_a_failing_line_of_an_actions_file_is_found(self):
        steps = ("jobs:", "  a:", "    steps:")
        self.expect_problem(self.ci(*steps, "      - run: exit 3"), "README.md:6", "status 3")
        self.expect_problem(
            self.ci(*steps, "      - run: |", "          true", "          exit 3"), "status 3"
        )

    def test_a_failing_line_of_a_gitlab_file_is_found(self):
        head = ("accuracy:", "  variables:", "    A: one  # a comment", "  script:")
        self.assertEqual(
            self.problems(self.ci(*head, "    - true", '    - test "$A$B" = onetwo')), []
        )
        self.expect_problem(self.ci(*head, "    - true", "    - exit 3"), "README.md:8", "status 3")
        self.expect_problem(self.ci(*head, "    - |", "      true", "      exit 3"), "status 3")

    def test_a_ci_file_without_a_command_is_found(self):
        self.expect_problem(self.ci("jobs:", "  a: b"), "without a command")

    def test_a_fence_that_stays_open_is_found(self):
        self.expect_problem("```sh\n$ true\n", "never closed")

    def test_a_mark_needs_a_reason(self):
        self.assertEqual(self.problems(sh("$ false  # not run: needs a device")), [])
        self.expect_problem(sh("$ false  # not run:"), "without a reason")

    def test_scripts_must_exist(self):
        self.expect_problem(sh("$ tools/check.sh --quick"), "tools/check.sh does not exist")
        self.assertEqual(self.problems(sh("$ tools/check.sh"), files=["tools/check.sh"]), [])

    def test_presets_must_exist(self):
        self.expect_problem(sh("$ cmake --preset fast"), "no preset fast")
        self.assertEqual(self.problems(sh("$ cmake --preset release")), [])

    def test_a_line_may_go_on(self):
        self.assertEqual(self.problems(sh("$ test a \\", "    = a")), [])
        self.expect_problem(sh("$ test a \\", "    = b", "$ true"), "README.md:3", "exit status 1")

    def test_commands_build_on_each_other_in_one_copy(self):
        self.assertEqual(self.problems(sh("$ mkdir runs && touch runs/a", "$ test -f runs/a")), [])

    def test_the_source_tree_is_not_touched(self):
        self.assertEqual(self.problems(sh("$ rm README.md", "$ test ! -f README.md")), [])

    def test_a_dead_link_is_found(self):
        self.expect_problem("[x](missing.md)\n", "missing.md")
        self.assertEqual(self.problems("[x](README.md#part), [y](https://example.org)\n"), [])

    def test_other_documents_are_read_too(self):
        self.expect_problem(sh("$ false"), "tests/README.md:3", name="tests/README.md")

    def test_no_document_at_all_is_a_problem(self):
        self.expect_problem("", "holds none", name="other.md")


if __name__ == "__main__":
    unittest.main()
