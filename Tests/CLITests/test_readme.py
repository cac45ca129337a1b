"""README and docs agree with the program, the library, the measurements and each other."""

import json
import re
import textwrap
from pathlib import Path

from links import broken_links

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def test_the_examples_of_the_library_are_those_that_are_compiled():
    page = (ROOT / "docs" / "library.md").read_text()
    compiled = (ROOT / "Tests" / "LibraryExample" / "Page.swift").read_text()
    files = [path.read_text() for path in (ROOT / "Tests" / "LibraryExample").glob("*.swift")]
    examples = re.findall(r"```swift\n(.*?)```", page, re.DOTALL)
    assert len(examples) > 5 and (ROOT / "Tests" / "LibraryExample" / "main.swift").read_text() in examples
    for example in examples:
        assert example in files or textwrap.indent(example, "  ") in compiled, example


def test_the_binaries_are_as_large_as_the_page_of_boards_says():
    sizes = re.findall(r"^\| `gighive-upload-\w+` \| ([0-9.]+) MB \|", (ROOT / "docs" / "measured" / "boards.md").read_text(), re.MULTILINE)
    assert len(sizes) == 4
    smallest, largest = min(map(float, sizes)), max(map(float, sizes))
    assert f"A static binary of {smallest:.1f} to {largest:.1f} MB," in README


def test_every_public_type_has_an_example_or_is_named_in_the_library_page():
    page = (ROOT / "docs" / "library.md").read_text()
    sources = [*ROOT.glob("Sources/Uploader*/**/*.swift"), *ROOT.glob("Sources/UploadCore/**/*.swift")]
    types = {name for path in sources for name in re.findall(r"^public (?:final )?(?:struct|enum|class) (\w+)", path.read_text(), re.MULTILINE)}
    # The compiler needs it public; it is of no use outside.
    assert {name for name in types - {"RingBuffer"} if name not in page} == set()


def test_every_exit_code_is_explained(run):
    """As in the help, 130 and 143 share a row."""
    table = (ROOT / "docs" / "troubleshooting.md").read_text().partition("| exit code |")[2].partition("\n\n")[0]
    codes = re.findall(r"^\| ([0-9, ]+) \|", table, re.MULTILINE)
    assert codes == re.findall(r"^  ([0-9]+(?:, [0-9]+)?)  ", run("help", "send").out.partition("Exit codes:")[2], re.MULTILINE)
    assert len(codes) == 18


def test_every_figure_of_the_readme_is_in_a_generated_page():
    """After a new measurement, the README has to quote it."""
    generated = "".join((ROOT / "docs" / "measured" / page).read_text() for page in ("performance.md", "memory.md"))
    known = set(re.findall(r"[0-9]+\.[0-9]+", generated))
    line = README.partition("- **Fast and small.**")[2].partition("\n- ")[0]
    quoted = set(re.findall(r"[0-9]+\.[0-9]+", line))
    assert len(quoted) > 1
    assert quoted <= known


def test_every_command_is_in_the_readme(run):
    commands = {command["name"] for command in json.loads(run("help", "--table").out)["commands"]} - {"help", "version"}
    assert commands <= set(re.findall(r"gighive-upload ([a-z]+)", README))


def test_the_commands_for_make_in_the_readme_are_targets():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make ([a-z]+)", README, re.MULTILINE) + re.findall(r"`make ([a-z]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_link_leads_to_a_page_and_a_heading():
    """The repository's site has the releases."""
    assert broken_links(ROOT) == ["README.md: ../../releases"]


def test_broken_links_are_noticed(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Good\n[a](docs/a.md#b) [b](#good) [c](docs/a.md#c) [d](docs/d.md) [e][e]\n\n[e]: ../e.md\n")
    (tmp_path / "docs" / "a.md").write_text("# B\n\n```sh\n# C\n```\n")
    assert broken_links(tmp_path) == [f"README.md: {link}" for link in ("docs/a.md#c", "docs/d.md", "../e.md")]
