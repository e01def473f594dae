"""Probe receivers that are written as the documentation of each library shows it, and write what was measured.

usage: run.py WEBHOOK QUICKSTART AXUM FOLDER REPORT [NAME...]

WEBHOOK, QUICKSTART and AXUM are programs, FOLDER holds the installed libraries, REPORT is the file to write. With names, only
those receivers are probed and no report is written.
"""

import json
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

HERE = Path(__file__).parent
# Made for this test and good for nothing else.
SECRETS = {
    "stripe": "whsec_field-test-only-0123456789abcdef",
    "github": "field-test-only-0123456789abcdef",
    "slack": "8f742231b10e8888abcd99yyyzzz85a5",
    "standard": "whsec_ZmllbGQtdGVzdC1vbmx5LTAxMjM0NTY3ODlhYmNkZWY=",
}
GROUPS = ["authenticity", "freshness", "raw-bytes", "single-use", "limits", "answers", "rotation"]
# At once: each waits for its own slow bodies most of the time.
PLACES = 3
PATIENCE_SECS = 60


@dataclass
class Receiver:
    """A receiver and how to start it."""

    name: str
    title: str
    provider: str
    command: list[str]
    source: str
    path: str = "/webhook"
    effects: str = "/effects/{id}"
    env: dict[str, str] = field(default_factory=dict)


def receivers(quickstart: str, axum: str, folder: Path) -> list[Receiver]:
    python = str(folder / "venv" / "bin" / "python")
    node_version = versions_of_node(folder)
    python_version = versions_of_python()

    def on_node(provider: str, package: str) -> Receiver:
        name = f"express-{package.split('/')[0].removeprefix('@')}"
        title = f"Express {node_version['express']}, `{package}` {node_version[package]}"
        return Receiver(name, title, provider, ["node", str(folder / "node" / f"{name}.js")], f"tests/field/node/{name}.js")

    def on_flask(provider: str, module: str, *packages: str) -> Receiver:
        names = ", ".join(f"`{package}` {python_version[package]}" for package in packages)
        title = f"Flask {python_version['flask']}, {names}"
        command = [python, str(HERE / "python" / f"{module}.py")]
        return Receiver(module.replace("_", "-"), title, provider, command, f"tests/field/python/{module}.py")

    def ours_on_actix(provider: str) -> Receiver:
        variables = {"stripe": "STRIPE_WEBHOOK_SECRETS", "github": "GITHUB_WEBHOOK_SECRETS", "slack": "SLACK_SIGNING_SECRETS"}
        return Receiver(
            f"quickstart-{provider}",
            f"this project on actix-web, {provider}",
            provider,
            [quickstart],
            "examples/quickstart",
            path=f"/webhooks/{provider}",
            effects=f"/effects/{provider}/{{id}}",
            env={variables[provider]: SECRETS[provider]},
        )

    def ours_on_axum(provider: str) -> Receiver:
        return Receiver(f"axum-{provider}", f"this project on axum, {provider}", provider, [axum], "tests/field/axum", path=f"/{provider}")

    return [
        on_node("stripe", "stripe"),
        on_node("github", "@octokit/webhooks"),
        on_node("standard", "standardwebhooks"),
        on_flask("stripe", "flask_stripe", "stripe"),
        on_flask("slack", "flask_slack_sdk", "slack_sdk"),
        on_flask("slack", "flask_bolt", "slack_bolt"),
        on_flask("standard", "flask_standardwebhooks", "standardwebhooks"),
        ours_on_actix("stripe"),
        ours_on_actix("github"),
        ours_on_actix("slack"),
        ours_on_axum("stripe"),
        ours_on_axum("standard"),
    ]


def versions_of_node(folder: Path) -> dict[str, str]:
    lock = json.loads((folder / "node" / "package-lock.json").read_text())
    return {name.removeprefix("node_modules/"): package["version"] for name, package in lock["packages"].items() if name}


def versions_of_python() -> dict[str, str]:
    lines = (HERE / "python" / "requirements.txt").read_text().split()
    return {name.lower(): version for name, version in (line.split("==") for line in lines)}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port: int, process: subprocess.Popen) -> None:
    until = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"ended with {process.returncode} before it listened")
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("does not listen")


def measure(webhook: str, folder: Path, receiver: Receiver) -> dict:
    """Start the receiver, probe it, stop it."""
    port = free_port()
    reports = folder / "reports"
    reports.mkdir(exist_ok=True)
    database = reports / f"{receiver.name}.db"
    for old in reports.glob(f"{receiver.name}.db*"):
        old.unlink()
    env = os.environ | {
        "PORT": str(port),
        "SECRET": SECRETS[receiver.provider],
        "BIND": f"127.0.0.1:{port}",
        "DATABASE_URL": f"sqlite://{database}",
        "DATABASE": str(database),
        "STRIPE_SECRET": SECRETS["stripe"],
        "STANDARD_SECRET": SECRETS["standard"],
    }
    with (reports / f"{receiver.name}.log").open("w") as log:
        process = subprocess.Popen(receiver.command, env=env | receiver.env, stdout=log, stderr=log)
        try:
            wait_for(port, process)
            base = f"http://127.0.0.1:{port}"
            command = [webhook, "probe", base + receiver.path, "--provider", receiver.provider, "--json"]
            command += ["--secret-env", "SECRET", "--effects-url", base + receiver.effects]
            command += ["--html", str(reports / f"{receiver.name}.html")]
            ended = subprocess.run(command, env=env, capture_output=True, text=True)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
    if ended.returncode not in (0, 1):
        raise RuntimeError(f"{receiver.name}: the probe ended with {ended.returncode}: {ended.stderr}{ended.stdout}")
    (reports / f"{receiver.name}.json").write_text(ended.stdout)
    report = json.loads(ended.stdout)
    print(f"{receiver.name:28} passed {report['passed']:3}  failed {report['failed']:3}  not judged {report['not_judged']:3}", flush=True)
    return report


def cell(report: dict, group: str) -> str:
    """Passed of judged; nothing where nothing was judged."""
    verdicts = [case["verdict"] for case in report["cases"] if case["group"] == group]
    passed, failed = verdicts.count("passed"), verdicts.count("failed")
    return f"{passed}/{passed + failed}" if passed + failed else "–"


def words(reason: str) -> str:
    """A reason as a cell of a table, without what is different in each run."""
    reason = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1", reason or "")
    return reason.replace("|", "\\|").replace("\n", " ")


def write(path: Path, measured: list[tuple[Receiver, dict]]) -> None:
    node = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    day = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    out = [(HERE / "preface.md").read_text().format(day=day, node=node, python=platform.python_version())]
    out.append("| receiver | provider | " + " | ".join(GROUPS) + " |\n| --- | --- |" + " --- |" * len(GROUPS) + "\n")
    for receiver, report in measured:
        cells = " | ".join(cell(report, group) for group in GROUPS)
        out.append(f"| {receiver.title} | {receiver.provider} | {cells} |\n")
    out.append("\n`passed/judged`. A dash: nothing in the group could be judged or applies.\n")
    out.append("\n## What did not pass\n")
    for receiver, report in measured:
        failed = [case for case in report["cases"] if case["verdict"] == "failed"]
        out.append(f"\n### {receiver.title}\n\n[{receiver.source}]({receiver.source}), as deliveries of {receiver.provider}. ")
        if not failed:
            out.append("Everything that was judged passed.\n")
            continue
        out.append(f"{len(failed)} of {report['passed'] + report['failed']} did not pass.\n\n")
        out.append("| case | sent | a safe receiver | this one |\n| --- | --- | --- | --- |\n")
        for case in failed:
            row = [f"{case['group']}/{case['name']}", case["sent"], case["safe"], case["reason"]]
            out.append("| " + " | ".join(words(text) for text in row) + " |\n")
    path.write_text("".join(out))


def main() -> None:
    webhook, quickstart, axum, folder, path, *names = sys.argv[1:]
    folder = Path(folder)
    chosen = [one for one in receivers(quickstart, axum, folder) if not names or one.name in names]
    with ThreadPoolExecutor(PLACES) as places:
        reports = list(places.map(lambda receiver: measure(webhook, folder, receiver), chosen))
    if names:
        return
    write(Path(path), list(zip(chosen, reports)))
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
