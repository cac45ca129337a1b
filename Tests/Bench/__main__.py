"""`make bench`: measures the static binary beside what people use instead. See README.md."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH), *(str(BENCH.parent / name) for name in ("HiveStub", "CLITests", "Support"))]

from bench import clients, goals, pairs, profile, report, scenarios, tools, trust  # noqa: E402

PEERS = ["curl", "bare", "hash", "digest", "toolbelt", "tuspy", "urlsession"]


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = _options()
    prepared = tools.prepare(
        with_url_session="urlsession" in options.peers, with_python=bool({"toolbelt", "tuspy"} & set(options.peers)),
        binary=options.binary, symbols=options.symbols)
    from hivestub import make_certificates

    certificates = make_certificates()
    trust.trust(Path(certificates.cacert), tools.BUILD / "certs")
    with tempfile.TemporaryDirectory() as folder:
        scenarios.verify(prepared, certificates, _forms(prepared, options.peers), Path(folder))
    bench = scenarios.Bench(prepared, certificates, options.pairs, set(options.peers), options.patience)
    for scenario in options.only:
        bench.run(scenario)
    outcomes = goals.judge(bench.results)
    for outcome in outcomes:
        print(outcome.line())
    if options.write_docs:
        profiles = profile.of_misses(outcomes, prepared, certificates)
        report.write(bench.results, outcomes, profiles, options.pairs)
    return 0


def _forms(prepared: tools.Tools, peers: list[str]) -> list[clients.Client]:
    found = [clients.ours(prepared), clients.ours_by_tus(prepared), clients.ours_to_gighive(prepared),
             clients.ours_verified(prepared)]
    found += [clients.CURL_FORM, clients.CURL_PUT] if "curl" in peers else []
    found += [clients.toolbelt(prepared)] if "toolbelt" in peers else []
    found += [clients.tuspy(prepared)] if "tuspy" in peers else []
    found += [clients.url_session(prepared)] if "urlsession" in peers else []
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Tests/Bench", description=__doc__)
    parser.add_argument("--pairs", type=int, default=11, help="pairs of runs a comparison (default: 11, at least 3)")
    parser.add_argument("--only", type=_names(scenarios.NAMES), default=scenarios.NAMES,
                        help="scenarios, separated by commas: " + ", ".join(scenarios.NAMES))
    parser.add_argument("--peers", type=_names(PEERS), default=PEERS,
                        help="the clients to compare with, separated by commas: " + ", ".join(PEERS))
    parser.add_argument("--patience", type=int, default=pairs.PATIENCE,
                        help="how many times the pairs are tried on a busy machine (default: %(default)s)")
    parser.add_argument("--binary", type=Path, help="the binary to measure (default: dist/gighive-upload-x86_64, freshly built)")
    parser.add_argument("--symbols", type=Path, help="the file that it was stripped from, for profiles")
    parser.add_argument("--write-docs", action="store_true", help="write docs/measured/performance.md and docs/measured/performance.svg")
    options = parser.parse_args()
    if options.pairs < 3:
        parser.error("--pairs: at least 3")
    if options.write_docs and (options.pairs < 7 or options.only != scenarios.NAMES or options.peers != PEERS):
        parser.error("--write-docs: with all scenarios and peers, and at least 7 pairs")
    return options


def _names(known: list[str]):
    def names(text: str) -> list[str]:
        given = text.split(",")
        unknown = [name for name in given if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
        return [name for name in known if name in given]

    return names


if __name__ == "__main__":
    sys.exit(main())
