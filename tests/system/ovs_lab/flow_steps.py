#!/usr/bin/env python3
"""Takes real Open vSwitch through a sequence of steps and writes down its state after each.

    flow_steps.py STEPS SETTINGS        prints JSON: one object a step

STEPS is a file with one step a line, which the model is taken through as well (flow_model.h):

    send N      N packets of the flow                 purge       revalidator/purge
    wait MS     nothing                               touch       another flow's rule changes
    delete      the datapath's entry is deleted       drop        an OpenFlow rule drops it
    alter       the entry is altered to drop          undrop      that rule goes
    shadow      a foreign tc rule before it drops     unshadow    that rule goes
    until-idle  wait until the entry is gone

SETTINGS is JSON: "control" and "openflow" (sockets), "port" (where the flow enters, OpenFlow port
1), "actions" (of the flow's rule), "send" (a command; the count is appended, it prints how many
were answered) or "probe" (a command that takes counts on its input), "offload" ("tc" or absent),
"max_idle_s".
"""

import json
import re
import subprocess
import sys
import time

MATCH = "udp,in_port=1,udp_dst=4791"
COUNTED_WITHIN_S = 1.2  # the revalidator tells OpenFlow of packets every 500 ms
OFFLOADED_WITHIN_S = 4.0  # ... and hears of offloaded ones from tc, later on a busy machine


def call(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Flow:
    """One flow and everything that can be done to it."""

    def __init__(self, settings):
        self.settings = settings
        self.last_packet = time.monotonic()
        self.probe = None
        if "probe" in settings:
            self.probe = subprocess.Popen(
                settings["probe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )

    def appctl(self, *arguments):
        return call(["ovs-appctl", "-t", self.settings["control"], *arguments])

    def openflow(self, command, *arguments):
        tool = ["ovs-ofctl", "-O", "OpenFlow13", *command.split()]
        return call([*tool, self.settings["openflow"], *arguments])

    def add_rule(self):
        self.openflow("add-flow", f"priority=200,{MATCH},actions={self.settings['actions']}")

    def entry(self):
        """The line of the datapath's dump, or None."""
        for line in self.appctl("dpctl/dump-flows", "-m", "--names").splitlines():
            here = f"in_port({self.settings['port']})" in line
            if here and "proto=17" in line and re.search(r"udp\([^)]*dst=4791", line):
                return line
        return None

    def counted(self):
        rules = [
            line
            for line in self.openflow("dump-flows").splitlines()
            if "tp_dst=4791" in line and "in_port=1" in line
        ]
        return sum(int(re.search(r"n_packets=(\d+)", rule)[1]) for rule in rules)

    def upcalls(self):
        """The userspace datapath's own count has other flows in it: of those, only upcalls whose
        flow is believed to be there already are counted.  The kernel's handlers tell that late."""
        if self.settings.get("offload") == "tc":
            return int(re.search(r"missed:(\d+)", self.appctl("dpctl/show"))[1])
        return int(self.appctl("coverage/read-counter", "handler_duplicate_upcall"))

    def transmit(self, count):
        if self.probe:
            self.probe.stdin.write(f"{count}\n")
            self.probe.stdin.flush()
            answered = count - json.loads(self.probe.stdout.readline())["lost"]
        else:
            answered = int(call([*self.settings["send"], str(count)]))
        self.last_packet = time.monotonic()
        used = re.search(r"used:([0-9.]+)s", self.entry() or "")
        if used:  # the sender needed some time to end
            self.last_packet -= float(used[1])
        return answered

    def warm_up(self):
        """Until addresses are resolved at both ends and every packet so far has been counted: a
        busy machine takes its time for both."""
        end = time.monotonic() + 10.0
        while self.transmit(5) < 5 and time.monotonic() < end:
            time.sleep(0.2)
        self.appctl("revalidator/purge")
        before = None
        while before != self.counted() and time.monotonic() < end:
            before = self.counted()
            time.sleep(COUNTED_WITHIN_S)

    def do_send(self, count):
        counted, upcalls = self.counted(), self.upcalls()
        state = {"sent": int(count), "answered": self.transmit(int(count))}
        state["upcalls"] = self.upcalls() - upcalls
        offloaded = self.settings.get("offload") == "tc"
        end = time.monotonic() + (OFFLOADED_WITHIN_S if offloaded else COUNTED_WITHIN_S)
        while self.counted() - counted < int(count) and time.monotonic() < end:
            time.sleep(0.1)
        state["counted"] = self.counted() - counted
        return state

    def do_wait(self, milliseconds):
        time.sleep(int(milliseconds) / 1e3)

    def do_delete(self):
        if self.settings.get("offload") != "tc":
            self.appctl("dpctl/del-flow", self.entry().split(",")[0])
            return
        port = self.settings["port"]
        for rule in call(["tc", "filter", "show", "dev", port, "ingress"]).split("filter ")[1:]:
            place = re.search(r"pref (\d+) flower chain 0 handle (0x[0-9a-f]+)", rule)
            if place and "dst_port 4791" in rule:
                where = ["protocol", "ip", "pref", place[1], "handle", place[2], "flower"]
                call(["tc", "filter", "del", "dev", port, "ingress", *where])

    def do_alter(self):
        self.appctl("dpctl/mod-flow", self.entry().split(", packets:")[0], "drop")

    def do_shadow(self):
        where = ["dev", self.settings["port"], "ingress", "pref", "1", "protocol", "ip", "flower"]
        match = ["skip_hw", "ip_proto", "udp", "dst_port", "4791", "action", "drop"]
        call(["tc", "filter", "add", *where, *match])

    def do_unshadow(self):
        call(["tc", "filter", "del", "dev", self.settings["port"], "ingress", "pref", "1"])

    def do_purge(self):
        self.appctl("revalidator/purge")

    def do_touch(self):
        self.openflow("add-flow", "priority=5,in_port=77,actions=drop")
        self.openflow("del-flows --strict", "priority=5,in_port=77")

    def do_drop(self):
        self.openflow("add-flow", f"priority=300,{MATCH},actions=drop")

    def do_undrop(self):
        self.openflow("del-flows --strict", f"priority=300,{MATCH}")

    def do_until_idle(self):
        begin = self.last_packet + self.settings["max_idle_s"] - 0.2
        time.sleep(max(0.0, begin - time.monotonic()))
        while self.entry() and time.monotonic() < begin + 5.0:
            time.sleep(0.03)
        return {"idle_s": round(time.monotonic() - self.last_packet, 3)}

    def run(self, step):
        name, *arguments = step.split()
        state = {"step": step}
        state.update(getattr(self, "do_" + name.replace("-", "_"))(*arguments) or {})
        entry = self.entry()
        state["entry"] = "absent"
        if entry:
            state["entry"] = "drops" if "actions:drop" in entry else "forwards"
            state["place"] = re.search(r"dp:(\w+)", entry)[1]
        return state


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [line.split("#")[0].strip() for line in file]
    flow = Flow(json.loads(sys.argv[2]))
    flow.add_rule()
    flow.warm_up()
    print(json.dumps([flow.run(step) for step in lines if step], indent=1))
    if flow.probe:
        flow.probe.stdin.close()
        flow.probe.wait()


if __name__ == "__main__":
    main()
