#!/usr/bin/env python3
"""Lines of code of crates/*/src: scripts/code-lines.py [DIRECTORY]

Blank lines, comments, modules for tests alone and crates/testkit do not count. Prints a row a crate, their sum, and what
is compiled with the feature `oracle` only: the slow twins of the tests, which the sum counts.
"""

import re
import sys
from pathlib import Path

ONLY = re.compile(r'#\[cfg\((?:(?:all\(|any\()?test\b|feature = "oracle"\))')
MODULE = re.compile(r"(?:pub(?:\(.*?\))? )?mod (\w+);")
PATH = re.compile(r'#\[path = "(.*)"\]')


def lines_of(path, apart):
    """How many lines count; `apart` gets the files of modules that are not always there, with the feature or None."""
    count = depth = 0
    skipping, gate, named = False, None, None
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if skipping:
            depth += line.count("{") - line.count("}")
            skipping = depth > 0
            continue
        if not text or text.startswith("//"):
            continue
        if ONLY.match(text):
            gate, named = text, None
            continue
        if gate:
            if text.startswith("#["):
                named = (PATH.match(text) or [None, None])[1] or named
                continue
            module = MODULE.match(text)
            if module:
                folder = path.parent if path.stem in ("mod", "lib", "main") else path.parent / path.stem
                files = [path.parent / named] if named else [folder / f"{module[1]}.rs", folder / module[1]]
                apart.update((file, "oracle" in gate) for file in files)
            elif not text.endswith(";"):
                depth = line.count("{") - line.count("}")
                skipping = depth > 0
            gate = None
            continue
        count += 1
    return count


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    apart, counts = {}, {}
    for path in sorted(root.glob("crates/*/src/**/*.rs")):
        counts[path] = lines_of(path, apart)
    crates, twins = {}, 0
    for path, count in counts.items():
        gates = [gate for file, gate in apart.items() if file == path or file in path.parents]
        if False in gates or path.relative_to(root).parts[1] == "testkit":
            continue
        twins += count if gates else 0
        crate = path.relative_to(root).parts[1]
        crates[crate] = crates.get(crate, 0) + count
    for crate, count in crates.items():
        print(f"{crate:<12}{count:>8}")
    print(f"{'all':<12}{sum(crates.values()):>8}")
    print(f"{'slow twins':<12}{twins:>8}")


main()
