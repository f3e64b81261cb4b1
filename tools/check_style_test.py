"""check-style finds what it is there to find: each case plants one thing in an otherwise clean tree."""

import importlib.util
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

TOOL = Path(__file__).parent / "check-style"

sys.dont_write_bytecode = True
loader = SourceFileLoader("check_style", str(TOOL))
check_style = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_style", loader))
loader.exec_module(check_style)

CLEAN = {
    "src/base/a.h": "#pragma once\nint a();\n",
    "src/base/a.cpp": '#include "base/a.h"\nint a() { return 1; }\n',
    "src/base/a_test.cpp": '#include <gtest/gtest.h>\n#include "base/a.h"\nTEST(A, IsOne) { EXPECT_EQ(a(), 1); }\n',
    "src/limit/b.h": '#pragma once\n#include "base/a.h"\n#include "ratel/r.h"\ninline constexpr int kBound = 1;\n',
    "src/store/s.h": '#pragma once\n#include <mutex>\n#include <boost/unordered/unordered_flat_map.hpp>\n',
    "src/wire/http.h": "#pragma once\n#include <boost/beast/http.hpp>\n#include <boost/asio/buffer.hpp>\n",
    "src/net/clock.h": "#pragma once\n#include <boost/asio.hpp>\nauto t = std::chrono::steady_clock::now();\n",
    "include/ratel/r.h": "#pragma once\n#include <cstdint>\n",
    "docs/x.md": "See [a](../src/base/a.h), `A.IsOne`, `kBound`, `test_e.py::test_it`, `test_e.test_it`, `test_it`.\n",
    "docs/bounds.md": "| `kLinesMax` | 5 |\n",
    "src/base/lines.h": "#pragma once\ninline constexpr int kLinesMax = 5;\n",
    "test_e.py": "def test_it():\n    pass\n",
    # words in comments and strings are no calls, names that merely end so are none, and 1'000 opens no character
    "src/limit/words.h": '#pragma once\n// steady_clock::now() rand()\nauto s = "sleep(1)"; int n = 1\'000;\n'
    'auto t = f.time(0); auto x = y.rand();\n'
    'int brand(int); auto r = R"(usleep(1) " rand())";\n',
}

PLANTED = [
    # file, its text, what the finding says
    ("src/base/c.h", '#pragma once\n#include "limit/b.h"\n', "base/ may include nothing else; not limit/b.h"),
    ("src/wire/c.h", '#pragma once\n#include "limit/b.h"\n', "wire/ may include base; not limit/b.h"),
    ("src/limit/c.h", '#pragma once\n  #  include "store/s.h"\n', "limit/ may include base; not store/s.h"),
    ("src/limit/c_test.cpp", '#include "store/s.h"\n', "in a test either"),
    ("src/limit/c.h", "#pragma once\n#include <boost/asio.hpp>\n", "only in net"),
    ("src/wire/c.h", "#pragma once\n#include <boost/asio.hpp>\n", "only in net"),
    ("src/wire/j.h", "#pragma once\n#include <boost/beast/core.hpp>\n", "Beast stays in one file"),
    ("src/limit/c.h", "#pragma once\n#include <yaml-cpp/yaml.h>\n", "only in rules, app"),
    ("src/limit/c.h", "#pragma once\n#include <sys/socket.h>\n", "only in net, app"),
    ("src/gate/c.h", "#pragma once\n#include <mutex>\n", "mutex: only in store"),
    ("src/base/c.h", "#pragma once\n#include <gtest/gtest.h>\n", "not in src/"),
    ("src/cellar/c.h", "#pragma once\n", "not a room"),
    ("include/ratel/c.h", '#pragma once\n#include "base/a.h"\n', "only the standard library"),
    ("include/ratel/c.h", "#pragma once\n#include <fmt/format.h>\n", "only the standard library"),
    ("src/limit/c.h", "int c();\n", "opens with #pragma once"),
    ("src/limit/c.h", "#pragma once\nauto t = std::chrono::system_clock::now();\n", "c.h:2: system_clock::now: "),
    ("src/limit/c.h", "#pragma once\nauto t = steady_clock :: now ();\n", "reads a clock"),
    ("src/limit/c.h", "#pragma once\nauto t = time(nullptr);\n", "reads a clock"),
    ("src/limit/c.h", "#pragma once\nauto t = std::rand();\n", "take the randomness as an argument"),
    ("src/limit/c.h", "#pragma once\n/* a\nb */ void f() { sleep(1); }\n", "c.h:3: sleep(: sleeps"),
    ("src/limit/c.h", "#pragma once\nvoid f() { std::this_thread::sleep_for(x); }\n", "sleep_for: sleeps"),
    ("src/limit/c.h", "#pragma once\nvoid f() { std::cerr << 1; }\n", "prints"),
    ("src/net/c.h", "#pragma once\nauto v = x | std::views::filter(f);\n", "clang 14"),
    ("src/limit/c_test.cpp", "TEST(A, DISABLED_B) {}\n", "a skipped test"),
    ("src/limit/c_test.cpp", "TEST(A, B) { GTEST_SKIP(); }\n", "a skipped test"),
    ("src/limit/c.h", "#pragma once\n// " + "x" * 118 + "\n", "121 columns"),
    ("src/limit/c.h", "#pragma once\n" + "// x\n" * 500, "501 lines"),
    ("src/limit/c.h", "#pragma once\n// TO" + "DO: more\n", "leftover"),
    ("docs/c.md", "FIX" + "ME\n", "leftover"),
    ("docs/c.md", "see /ho" + "me/someone/ratel\n", "a place of one machine"),
    ("tests/c/package.json", '{"url": "https://regi' + 'stry.npmjs.org/x"}\n', "a place of one machine or one network"),
    ("src/base/c.cpp", "int c() { return 1; }\n", "no test of the room reaches it"),
    ("src/base/c.cpp", '#include "base/c.h"\n#include "base/a.h"\n', "no test of the room reaches it"),
    ("src/base/c.cpp", "// Tested by tests/test_nothing.py\n", "no test of the room reaches it"),
    ("docs/c.md", "`A.IsTwo` proves it\n", "names a test that does not exist: A.IsTwo"),
    ("docs/c.md", "`tests/test_e.py::test_other`\n", "names a test that does not exist"),
    ("docs/c.md", "`test_other`\n", "names a test that does not exist: test_other"),
    ("src/base/c.h", "#pragma once\nconstexpr std::size_t kBytesMax{5};\n", "c.h:2: docs/bounds.md lacks kBytesMax"),
    ("docs/c.md", "`kElsewhere`\n", "names a bound that does not exist"),
    ("docs/c.md", "[x](nowhere.md#there)\n", "a link to nothing: nowhere.md"),
]

CONTENT = [
    ("src/limit/c.h", "#pragma once\n// over 500 lines: a table\n" + "// x\n" * 500),
    ("src/limit/c.cpp", "// Tested by test_e.py\nint c() { return 1; }\n"),
    ("src/base/more_of_a.cpp", '#include "base/a.h"\n'),
    ("src/limit/c_test.cpp", '#include "base/a.h"\n#include <rapidcheck/gtest.h>\n#include <thread>\n'),
    ("src/store/c_test.cpp", '#include "wire/http.h"\n'),
    ("src/store/c_testing.h", "#pragma once\n#include <gtest/gtest.h>\n"),
    ("docs/c.md", "[x](x.md#there) [y](https://example.org/none)\n"),
    ("build/c.cpp", "TO" + "DO\n"),
]


def plant(folder, files):
    for name, text in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def findings(extra):
    with tempfile.TemporaryDirectory() as folder:
        plant(folder, {**CLEAN, **extra})
        return check_style.check(Path(folder))


class CheckStyle(unittest.TestCase):
    def test_a_clean_tree_has_no_findings(self):
        self.assertEqual(findings({}), [])

    def test_each_planted_fault_is_the_one_finding(self):
        for name, text, expected in PLANTED:
            with self.subTest(expected=expected, text=text[:60]):
                found = findings({name: text})
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(name + ":"), found)
                self.assertIn(expected, found[0])

    def test_what_is_permitted_is_not_found(self):
        for name, text in CONTENT:
            with self.subTest(name=name, text=text[:60]):
                self.assertEqual(findings({name: text}), [])

    def test_the_exit_code_says_whether_there_are_any(self):
        for extra, code in (({}, 0), ({"src/base/c.h": "int c();\n"}, 1)):
            with tempfile.TemporaryDirectory() as folder:
                plant(folder, {**CLEAN, **extra})
                done = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, bool(done.stdout)), (code, bool(code)), done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
