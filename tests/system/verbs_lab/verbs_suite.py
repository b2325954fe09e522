#!/usr/bin/env python3
"""Runs one bonescan agent per host of fabric.sh, breaks the network, and writes down what was said.

usage: verbs_suite.py BONESCAN UD_PROBE ROCE_FRAME RESULT_DIRECTORY

Runs in the guest, as root.  It judges nothing: for every case it records when the fault came and
went and which incidents the agents opened meanwhile, in RESULT_DIRECTORY/verbs.json; the run
directories and the logs of the agents are copied beside it at the end.  Exit status: 0 unless the
suite itself could not go on.
"""

import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import roce_frames

HERE = os.path.dirname(os.path.abspath(__file__))
# In memory: see preload.sh.
RUNS = "/run/verbs_suite"
PROGRAMS = ["bash", "env", "ip", "tc", "rdma", "sleep", "grep", "wc", "sysctl"]
PROVIDER = [
    "/etc/libibverbs.d/rxe.driver",
    "/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so",
]

HEALTHY_S = 60.0
DETECT_S = 60.0  # a fault that is not noticed for so long counts as missed
HOLD_S = 6.0  # a fault stays after it was noticed, so that its place can be refined
NOTICE_S = 2.0  # the end of a fault may itself be told, as another change of address
CLOSE_S = 90.0
SETTLE_S = 10.0  # healthy windows before the next fault

# What suits hosts in software: short windows judged by their median, nothing below a millisecond.
# A sweep takes 1.2 s.  Before a link is accused, the evidence should be no older than the fault:
# hence two visits of a pair in a row, or four lossy visits of different pairs.
CONFIG = """
agent:
  host: {host}
  management: 127.0.0.1:{management}
  metrics: none
  flush: 1s
limits: {{probes_per_second: 1000, cpu: 400%, memory: 512MiB, disk_free: 8MiB}}
inventory:
  - {{name: rxe1, host: h1, rail: 0, tor: bridge-h1,
     overlay_ip: 10.9.0.1, underlay_ip: 172.30.1.1, device: rxe1}}
  - {{name: rxe2, host: h1, rail: 1, tor: bridge-h1,
     overlay_ip: 10.9.0.2, underlay_ip: 172.30.1.1, device: rxe2}}
  - {{name: rxe3, host: h2, rail: 0, tor: bridge-h2,
     overlay_ip: 10.9.0.3, underlay_ip: 172.30.2.1, device: rxe3}}
  - {{name: rxe4, host: h2, rail: 1, tor: bridge-h2,
     overlay_ip: 10.9.0.4, underlay_ip: 172.30.2.1, device: rxe4}}
hosts:
  - {{name: h1, management: '127.0.0.1:7401'}}
  - {{name: h2, management: '127.0.0.1:7402'}}
topology: {{file: topology.yaml}}
probing: {{list: full-mesh, visit: 400ms, probes_per_visit: 5, timeout: 100ms}}
detection:
  window: {{length: 2s, history: 10, history_age: 60s}}
  short_term: {{features: median, feature_floor: 1ms}}
  loss: {{consecutive: 10, pool_window: 10s, base_loss_ratio: 0.01%, open_llr: 30}}
  incident: {{merge_gap: 4s, close_after: 5s, reopen_after: 0s}}
"""

TOPOLOGY = """
symmetric_hashing: yes
switches:
  - {name: bridge-h1, kind: bridge}
  - {name: bridge-h2, kind: bridge}
  - {name: router, addresses: "172.30.1.254, 172.30.2.254"}
links:
  - {from: rxe1, to: bridge-h1, name: port-rxe1}
  - {from: rxe2, to: bridge-h1, name: port-rxe2}
  - {from: rxe3, to: bridge-h2, name: port-rxe3}
  - {from: rxe4, to: bridge-h2, name: port-rxe4}
  - {from: bridge-h1, to: router, name: underlay-h1}
  - {from: bridge-h2, to: router, name: underlay-h2}
"""


def say(text):
    print(f"{time.monotonic():8.2f} {text}", flush=True)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def call(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def fabric(*arguments):
    call(f"{HERE}/fabric.sh", *arguments)


def unix_time(text):
    """Of "2026-01-31T12:00:00.123456789Z"."""
    whole, fraction = text.rstrip("Z").split(".")
    moment = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc)
    return moment.timestamp() + float("0." + fraction)


def wait_until(condition, limit_s):
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


class Agent:
    """One run of `bonescan agent`, in a directory of its own."""

    def __init__(self, bonescan, host, run):
        self.host = host
        self.read_to = 0  # of incidents.jsonl
        self.newest = {}
        self.directory = f"{RUNS}/{run}"
        self.log_file = f"{RUNS}/{run}.log"
        config = f"{RUNS}/{run}.yaml"
        write(config, CONFIG.format(host=host, management=f"740{host[1]}"))
        with open(self.log_file, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [bonescan, "agent", "--standalone", "--config", config, "--out", self.directory],
                stdout=log,
                stderr=log,
            )

    def incidents(self):
        """The newest line of each incident, in the order of opening."""
        file = f"{self.directory}/incidents.jsonl"
        if os.path.exists(file):
            with open(file, encoding="utf-8") as lines:
                lines.seek(self.read_to)
                for text in lines.readlines():
                    if text.endswith("\n"):
                        self.read_to += len(text.encode())
                        line = json.loads(text)
                        self.newest[line["id"]] = line
        return list(self.newest.values())

    def probes(self):
        try:
            with open(f"{self.directory}/visits.csv", encoding="utf-8") as file:
                return sum(1 for _ in file) > 1
        except FileNotFoundError:
            return False

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=120)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Suite:
    def __init__(self, bonescan, ud_probe, roce_frame):
        self.bonescan = bonescan
        self.ud_probe = ud_probe
        self.roce_frame = roce_frame
        self.agents = {}
        self.cases = []

    def start(self, host, run):
        self.agents[host] = Agent(self.bonescan, host, run)

    def all_alive(self):
        return all(agent.process.poll() is None for agent in self.agents.values())

    def incidents_since(self, begin):
        return [
            (agent.host, line)
            for agent in self.agents.values()
            for line in agent.incidents()
            if unix_time(line["detected_at"]) >= begin
        ]

    def all_closed(self):
        return all(
            line["state"] == "closed"
            for agent in self.agents.values()
            for line in agent.incidents()
        )

    def record(self, name, injected, recovered):
        self.cases.append(
            {
                "name": name,
                "injected": injected,
                "recovered": recovered,
                "agents_alive": self.all_alive(),
                "incidents": [
                    {
                        "agent": host,
                        "detected_after_s": round(unix_time(line["detected_at"]) - injected, 3),
                        "closed_after_s": round(unix_time(line["closed_at"]) - recovered, 3)
                        if line["closed_at"]
                        else None,
                        "line": line,
                    }
                    for host, line in self.incidents_since(injected)
                ],
            }
        )
        for incident in self.cases[-1]["incidents"]:
            line = incident["line"]
            say(
                f"  {incident['agent']} after {incident['detected_after_s']} s: {line['layer']}"
                f" {line['kind']} {line['component']} or {line['alternatives']},"
                f" closed after {incident['closed_after_s']} s"
            )

    def healthy(self, name, seconds):
        begin = time.time()
        time.sleep(seconds)
        say(f"{name}: {seconds} s")
        self.record(name, begin, time.time())

    def fault(self, name, inject, recover):
        begin = time.time()
        inject()
        noticed = wait_until(lambda: self.incidents_since(begin), DETECT_S)
        time.sleep(HOLD_S)
        recover()
        recovered = time.time()
        time.sleep(NOTICE_S)
        closed = wait_until(self.all_closed, CLOSE_S)
        say(f"{name}: noticed {noticed}, closed {closed}")
        self.record(name, begin, recovered)
        time.sleep(SETTLE_S)

    def network_fault(self, *fault):
        self.fault(fault[0], lambda: fabric(*fault), lambda: fabric("recover"))

    def yardstick(self):
        """What round trips are like without the product, and the ports of eight QPs."""
        result = {}
        for source, target in ((1, 2), (3, 4), (1, 3), (4, 2)):
            text = call(self.ud_probe, f"rxe{source}", f"rxe{target}", "50")
            result[f"rxe{source}-rxe{target}"] = json.loads(text)
        result["eight_qps"] = self.ports_while(
            "e1", lambda: call(self.ud_probe, "rxe1", "rxe3", "100", "8")
        )
        say(f"yardstick: {result}")
        return result

    @staticmethod
    def ports_while(interface, action):
        with subprocess.Popen(
            [f"{HERE}/count_source_ports.py", interface],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as capture:
            capture.stdout.readline()  # it listens
            action()
            counts, _ = capture.communicate()  # closes its input: it stops
        return json.loads(counts)

    def run(self):
        result = {"yardstick": self.yardstick()}
        result["frames"] = roce_frames.exchange(self.ud_probe, self.roce_frame)
        say("frames were exchanged")
        self.start("h1", "h1")
        self.start("h2", "h2")
        probing = wait_until(lambda: all(a.probes() for a in self.agents.values()), 60.0)
        if not probing or not self.all_alive():
            for agent in self.agents.values():
                with open(agent.log_file, encoding="utf-8") as log:
                    say(f"agent of {agent.host} does not probe:\n{log.read()}")
            return result
        say("the agents probe")
        time.sleep(SETTLE_S)
        result["agent_ports"] = self.ports_while("e1", lambda: time.sleep(5.0))
        self.healthy("healthy", HEALTHY_S)
        self.network_fault("loss_100")
        self.network_fault("loss_10")
        self.network_fault("delay_5ms")
        self.network_fault("link_down")
        self.network_fault("port_down", "3")
        self.network_fault("gid_change", "3")
        self.fault(
            "agent_killed", lambda: self.agents["h2"].kill(), lambda: self.start("h2", "h2_again")
        )
        self.healthy("healthy_again", SETTLE_S)
        result["cpu_s"] = {host: agent.cpu_s() for host, agent in self.agents.items()}
        result["cpu_s"]["suite"] = sum(os.times()[:4])
        say(f"processor time: {result['cpu_s']}")
        result["exit_codes"] = {host: agent.stop() for host, agent in self.agents.items()}
        say(f"exit codes {result['exit_codes']}")
        return result


def main():
    bonescan, ud_probe, roce_frame, directory = sys.argv[1:]
    os.makedirs(RUNS)
    write(f"{RUNS}/topology.yaml", TOPOLOGY)
    programs = [bonescan, ud_probe, roce_frame, f"{HERE}/fabric.sh"]
    call(f"{HERE}/preload.sh", *PROGRAMS, *PROVIDER, *programs)
    say("preloaded")
    fabric("up")
    say("the fabric is up")
    suite = Suite(bonescan, ud_probe, roce_frame)
    result = {}
    try:
        result = suite.run()
    finally:
        result["cases"] = suite.cases
        for agent in suite.agents.values():
            if agent.process.poll() is None:
                agent.kill()
        shutil.copytree(RUNS, f"{directory}/runs", dirs_exist_ok=True)
        write(f"{directory}/verbs.json", json.dumps(result, indent=1))
    sys.exit(0 if "exit_codes" in result else 1)


if __name__ == "__main__":
    main()
