"""Checks the rule pages with `torchvet probe verify`.

    python tests/pages_verify.py --torchvet target/debug/torchvet [--list] [name …]
    python tests/pages_verify.py --torchvet target/debug/torchvet --scripts corpus/buggy

If a page says that PyTorch raises on the CPU (`cpu = …`), the finding on each marked line of its
Example must be *reproduced*, unless the rule has no witnesses (WITHOUT_WITNESS). No finding of any page
may be *refuted*, neither in the Example nor in Use instead. The Python that runs this file also runs
the witnesses.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import rule_pages

PRELUDE = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport numpy as np\n"
# Matches the verdict on a witness that uses a function which this PyTorch does not have.
NEWER = re.compile(r"cannot be created: AttributeError: module '(torch[\w.]*)' has no attribute '(\w+)'")
TITLES = {"Example": "example", "Use instead": "instead"}


# Kinds of rejected calls, and rules, that have no witness: they are about the code, not about values of
# arguments.
WITHOUT_WITNESS = {
    "name",
    "arguments",
    "operation",
    "recursion",
    "undefined-name",
    "missing-import",
    "scaler-updated-before-step",
    "binary-data-in-text-file",
    "lengths-not-sorted",
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--torchvet", required=True)
    parser.add_argument("--list", action="store_true", help="print the verdict of every finding")
    parser.add_argument("--scripts", metavar="DIR", help="verify what is found in these scripts instead")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.scripts:
        sys.exit(verify_scripts(options))
    pages = {page.name: page for page in rule_pages.read_all()}
    names = options.names or list(pages)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for title, stem in TITLES.items():
                source, _ = pages[name].blocks[title]
                if not re.search(r"^(import|from) ", source, flags=re.MULTILINE):
                    source = PRELUDE + source
                # Each page has a separate folder, so that it cannot import the file of another page.
                file = pathlib.Path(folder, name.replace("-", "_"), f"{stem}.py")
                file.parent.mkdir(exist_ok=True)
                file.write_text(source, encoding="utf-8")
        findings = verify(options.torchvet, folder)
    verdicts = {}
    for finding in findings:
        path = pathlib.Path(finding["filename"])
        verdicts.setdefault((path.parent.name.replace("_", "-"), path.stem), []).append(finding)
    faults, left_out, reproduced, beside = [], [], 0, 0
    shown = [name for name in names if "cpu" in pages[name].metadata]
    for name in names:
        of_example = verdicts.get((name, "example"), [])
        good = [finding for finding in of_example if finding["verdict"]["witness"]["status"] == "reproduced"]
        missing = [finding for finding in of_example if finding not in good]
        newer = [found for finding in missing if (found := NEWER.search(one_line(finding)))]
        if name in shown and newer and len(newer) == len(missing):
            left_out.append(f"{name} (this PyTorch has no {newer[0][1]}.{newer[0][2]})")
        elif name in shown and {name, pages[name].metadata.get("rejects")} & WITHOUT_WITNESS:
            left_out.append(f"{name} (a witness is a call with known arguments)")
        elif name in shown:
            reproduced += bool(of_example) and not missing
            faults += [f"{name}: {one_line(finding)}" for finding in missing]
            if not of_example:
                faults.append(f"{name}: nothing was found")
        elif good:
            beside += 1
        for stem in TITLES.values():
            for finding in verdicts.get((name, stem), []):
                if finding["verdict"]["witness"]["status"] == "refuted":
                    faults.append(f"{name}, {stem}: {one_line(finding)}")
                if options.list:
                    print(f"{name}, {stem}: {one_line(finding)}")
    for fault in dict.fromkeys(faults):
        print(fault)
    print(f"Examples reproduced: {reproduced} of the {len(shown)} pages with `cpu`,", end=" ")
    print(f"{beside} of the other {len(names) - len(shown)}; {len(faults)} faults;", end=" ")
    print(f"left out {len(left_out)}: {', '.join(left_out) or 'nothing'}")
    sys.exit(bool(faults))


def verify(torchvet, folder):
    """All findings in a folder, with their verdicts."""
    command = [torchvet, "probe", "verify", "--isolated", "--select", "ALL", "--exit-zero"]
    command += ["--python", sys.executable, "--output-format", "json", folder]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"torchvet failed:\n{ran.stderr}")
    return json.loads(ran.stdout)


def verify_scripts(options):
    """Counts the verdicts for scripts; a refuted finding is a bug of the checker or of the
    witness."""
    findings = verify(options.torchvet, options.scripts)
    count = collections.Counter()
    for finding in findings:
        verdict = finding["verdict"]["witness"]
        how = [verdict["status"], *filter(None, [verdict["how"], verdict["judge"]])]
        count[", ".join(how)] += 1
        if options.list or verdict["status"] == "refuted":
            print(f"{finding['filename']}: {one_line(finding)}")
    print(
        f"{len(findings)} findings in {options.scripts}:",
        "; ".join(f"{n} {how}" for how, n in sorted(count.items())),
    )
    return any(finding["verdict"]["witness"]["status"] == "refuted" for finding in findings)


def one_line(finding):
    verdict = finding["verdict"]["witness"]
    said = verdict["message"] or verdict["reason"] or ""
    return f"{finding['code']} line {finding['location']['row']} {verdict['status']}: {said.splitlines()[0]}"


if __name__ == "__main__":
    main()
