"""Frames that no verbs device made, sent to one; and frames that one made, for others to read.

Runs in the guest, on the network of fabric.sh.  It judges nothing.  exchange() returns

  cases   for each frame that was sent: what it was, the message that the device's queue pair got
          (null: none), by how much the device's count of received packets rose, and what its
          checks of the invariant CRC returned
  sent    frames of the device, hexadecimal, as they left
"""

import json
import os
import re
import socket
import subprocess
import threading
import time

ETH_P_ALL = 3
ROCE_PORT = 4791
WAIT_MS = 300
SOURCE_QPN = 0x4321
TRACING = "/sys/kernel/tracing"
RECEIVED = "/sys/class/infiniband/rxe3/ports/1/hw_counters/rcvd_pkts"
ICRC_BITS = range(32)


class Listener:
    """lab_ud_probe on rxe3, with one queue pair."""

    def __init__(self, ud_probe):
        self.process = subprocess.Popen(
            [ud_probe, "listen", "rxe3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.address = json.loads(self.process.stdout.readline())

    def next(self):
        self.process.stdin.write(f"{WAIT_MS}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class CrcVerdicts:
    """What the driver's check of the invariant CRC returned: 0 or an error, for every packet.

    The driver drops a packet with a bad CRC without a word and without a counter, hence a probe on
    its function.
    """

    def __init__(self):
        if not os.path.exists(f"{TRACING}/kprobe_events"):
            subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
        self.write("kprobe_events", "r:roce/icrc rxe_icrc_check verdict=$retval:s32")
        self.write("events/roce/icrc/enable", "1")

    def next(self):
        with open(f"{TRACING}/trace", encoding="ascii") as file:
            found = re.findall(r"icrc: .*verdict=(-?[0-9]+)", file.read())
        self.write("trace", "")
        return [int(verdict) for verdict in found]

    def end(self):
        self.write("events/roce/icrc/enable", "0")
        self.write("kprobe_events", "")

    @staticmethod
    def write(name, text):
        with open(f"{TRACING}/{name}", "w", encoding="ascii") as file:
            file.write(text)


def received():
    """The device keeps a count that was read for 10 ms."""
    time.sleep(0.02)
    with open(RECEIVED, encoding="ascii") as file:
        return int(file.read())


def flipped(frame, bit):
    """`bit` counts from the end of the frame."""
    changed = bytearray(frame)
    changed[len(changed) - 1 - bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def frames_of_ours(roce_frame, address):
    """Name and bytes of each; the third bit from the end of a payload is one of its last byte."""

    def made(*more, queue_key=address["queue_key"]):
        command = [roce_frame, "--source-mac", "02:00:00:00:00:01", "--source-ip", "10.9.0.1"]
        command += ["--target-mac", "02:00:00:00:00:03", "--target-ip", "10.9.0.3"]
        command += ["--qpn", str(address["qpn"]), "--source-qpn", str(SOURCE_QPN)]
        command += ["--queue-key", str(queue_key), *more]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    valid = made()
    yield "valid", valid
    yield "icrc_flipped", made("--flip-icrc")
    for bit in ICRC_BITS:
        yield f"icrc_bit_{bit}", flipped(valid, bit)
    yield "payload_bit", flipped(valid, 32 + 3)
    yield "other_queue_key", made(queue_key=address["queue_key"] + 1)
    yield "other_service_and_lifetime", made("--type-of-service", "106", "--time-to-live", "7")
    yield "padded", made("--payload", "61")
    yield "valid_again", made("--psn", "77")


def send_frames(ud_probe, roce_frame):
    listener = Listener(ud_probe)
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    wire.bind(("e1", 0))
    verdicts = CrcVerdicts()
    cases = []
    for name, frame in frames_of_ours(roce_frame, listener.address):
        before = received()
        wire.send(frame)
        message = listener.next()
        cases.append(
            {
                "name": name,
                "message": message,
                "counted": received() - before,
                "verdicts": verdicts.next(),
            }
        )
    verdicts.end()
    listener.end()
    return cases


def capture_frames(ud_probe, seconds):
    """Of a few round trips between rxe1 and rxe3, both directions, at rxe1's port."""
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.bind(("e1", 0))
    tap.settimeout(seconds)
    probe = threading.Thread(
        target=subprocess.run, args=([ud_probe, "rxe1", "rxe3", "20", "2"],), kwargs={"check": True}
    )
    probe.start()
    frames = []
    try:
        while len(frames) < 40:
            frame = tap.recv(2048)
            is_roce = frame[12:14] == b"\x08\x00" and frame[23] == socket.IPPROTO_UDP
            if is_roce and int.from_bytes(frame[36:38], "big") == ROCE_PORT:
                frames.append(frame.hex())
    except TimeoutError:
        pass
    probe.join()
    return frames


def exchange(ud_probe, roce_frame):
    return {"cases": send_frames(ud_probe, roce_frame), "sent": capture_frames(ud_probe, 5.0)}
