#!/usr/bin/env python3
"""Reads a capture of the packet mode twice: with a parser of its own, and with tshark."""

import argparse
import collections
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

ARGUMENTS = None
PACKETS = 3000
VNI = 100


def ipv4_sum(header):
    total = sum(struct.unpack("!%dH" % (len(header) // 2), header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def icrc_of(l3):
    """InfiniBand architecture, annex A17: masked fields read as ones."""
    masked = bytearray(l3[:-4])
    for index in (1, 8, 10, 11, 26, 27, 32):
        masked[index] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked)))


def records(path):
    data = path.read_bytes()
    magic, major, minor, _, _, _, link_type = struct.unpack("<IHHiIII", data[:24])
    assert (magic, major, minor, link_type) == (0xA1B23C4D, 2, 4, 1), "a capture with nanoseconds"
    at = 24
    while at < len(data):
        seconds, nanos, size, original = struct.unpack("<IIII", data[at : at + 16])
        assert size == original and nanos < 10**9
        yield seconds * 10**9 + nanos, data[at + 16 : at + 16 + size]
        at += 16 + size


class Layer:
    """Ethernet, IPv4 and UDP; `rest` is what UDP carries."""

    def __init__(self, frame):
        assert frame[12:14] == b"\x08\x00", "IPv4"
        self.l3 = frame[14:]
        header = self.l3[:20]
        assert header[0] == 0x45 and header[9] == 17
        assert ipv4_sum(header) == 0xFFFF, "IPv4 header checksum"
        assert struct.unpack("!H", header[2:4])[0] == len(self.l3), "IPv4 length"
        self.source_port, self.target_port, length, checksum = struct.unpack(
            "!HHHH", self.l3[20:28]
        )
        assert length == len(self.l3) - 20, "UDP length"
        assert checksum == 0
        self.dscp = header[1] >> 2
        self.source, self.target = header[12:16], header[16:20]
        self.rest = self.l3[28:]


def run(pcap, out):
    command = [
        ARGUMENTS.binary,
        "run",
        str(pathlib.Path(ARGUMENTS.source) / "scenarios/smoke/healthy.yaml"),
        "--set=duration=3min",
        "--fidelity=packet",
        f"--pcap={pcap}",
        f"--pcap-packets={PACKETS}",
        f"--out={out}",
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class CaptureTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.scratch.name)
        cls.pcap = root / "run.pcap"
        run(cls.pcap, root / "run")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_every_byte_is_accounted_for(self):
        last = 0
        opcodes = collections.Counter()
        ports = {}
        for at, frame in records(self.pcap):
            self.assertGreaterEqual(at, last)
            last = at
            outer = Layer(frame)
            self.assertEqual(outer.target_port, 4789)
            self.assertEqual(outer.rest[:8], struct.pack("!II", 0x08000000, VNI << 8))
            inner = Layer(outer.rest[8:])
            self.assertEqual(inner.target_port, 4791)
            self.assertEqual(inner.l3[-4:], icrc_of(inner.l3))
            self.assertEqual(inner.dscp, outer.dscp)
            self.assertEqual(len(frame), 50 + 14 + 20 + 8 + 12 + 8 + 64 + 4)
            opcodes[inner.rest[0]] += 1
            flow = (inner.source, inner.target, inner.source_port)
            # One flow, one outer port: it decides the path.
            self.assertEqual(ports.setdefault(flow, outer.source_port), outer.source_port)
        self.assertEqual(opcodes, {0x64: PACKETS})
        self.assertGreater(len(set(ports.values())), 8)

    def tshark(self, path, *fields):
        command = ["tshark", "-r", str(path), "-T", "fields", "-E", "separator=,", "-E", "occurrence=a"]
        command += ["-E", "aggregator=|"]
        for field in fields:
            command += ["-e", field]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return [line.split(",") for line in done.stdout.splitlines()]

    def test_tshark_reads_every_field(self):
        rows = self.tshark(
            self.pcap,
            "udp.dstport",
            "vxlan.vni",
            "infiniband.bth.opcode",
            "infiniband.bth.psn",
            "infiniband.deth.q_key",
            "infiniband.invariant.crc",
            "_ws.malformed",
            "_ws.expert.severity",
        )
        frames = [Layer(Layer(frame).rest[8:]) for _, frame in records(self.pcap)]
        self.assertEqual(len(rows), PACKETS)
        for row, inner in zip(rows, frames):
            ports, vni, opcode, psn, queue_key, icrc, malformed, _ = row
            self.assertEqual(ports, "4789|4791")
            self.assertEqual(int(vni), VNI)
            self.assertEqual(int(opcode, 0), 0x64)
            self.assertEqual(int(psn, 0), struct.unpack("!I", inner.rest[8:12])[0] & 0xFFFFFF)
            self.assertEqual(int(queue_key, 0), 0x11111111)
            self.assertEqual(int(icrc, 0).to_bytes(4, "big"), inner.l3[-4:])
            self.assertEqual(malformed, "")

    def test_tshark_finds_nothing_wrong(self):
        bad = "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0"
        command = ["tshark", "-r", str(self.pcap), "-o", "ip.check_checksum:TRUE", "-Y", bad]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        self.assertEqual(done.stdout, "")

    def test_reliable_connections_are_read_as_such(self):
        path = pathlib.Path(self.scratch.name) / "flows.pcap"
        done = subprocess.run([ARGUMENTS.flows, str(path)], check=True, capture_output=True, text=True)
        opcodes = collections.Counter()
        for _, frame in records(path):
            inner = Layer(Layer(frame).rest[8:])
            self.assertEqual(inner.l3[-4:], icrc_of(inner.l3))
            opcodes[inner.rest[0]] += 1
        self.assertEqual(set(opcodes), {0x0A, 0x11, 0x64, 0x81}, done.stdout)
        rows = self.tshark(
            path,
            "infiniband.bth.opcode",
            "infiniband.bth.padcnt",
            "infiniband.reth.dmalen",
            "infiniband.aeth.syndrome",
            "infiniband.aeth.msn",
            "ip.dsfield.dscp",
            "_ws.malformed",
        )
        syndromes = collections.Counter()
        for opcode, pad, length, syndrome, sequence, dscp, malformed in rows:
            self.assertEqual(malformed, "")
            opcodes[int(opcode, 0)] -= 1
            if int(opcode, 0) == 0x0A:
                self.assertEqual((int(pad, 0), int(length, 0)), (2, 1022))
            if int(opcode, 0) == 0x11:
                syndromes[int(syndrome, 0)] += 1
                self.assertNotEqual(sequence, "")
            self.assertEqual(dscp, "48|48" if int(opcode, 0) == 0x81 else "26|26")
        self.assertEqual(sum(opcodes.values()), 0)
        self.assertEqual(set(syndromes), {0x1F, 0x60})

    def refused(self, *more):
        scenario = pathlib.Path(ARGUMENTS.source) / "scenarios/smoke/healthy.yaml"
        out = pathlib.Path(self.scratch.name) / "refused"
        command = [ARGUMENTS.binary, "run", str(scenario), f"--out={out}", *more]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse(out.exists())
        return done.stderr

    def test_what_the_mode_cannot_do_is_refused_in_words(self):
        large = self.refused("--fidelity=packet", "--set=fabric.hosts_per_segment=129")
        self.assertIn("at most 256 hosts", large)
        self.assertIn("found 258", large)
        self.assertIn("--fidelity packet", self.refused("--pcap=x.pcap"))

    def test_equal_seeds_give_equal_captures(self):
        again = pathlib.Path(self.scratch.name) / "again.pcap"
        run(again, pathlib.Path(self.scratch.name) / "again")
        self.assertEqual(again.read_bytes(), self.pcap.read_bytes())

    def one_frame(self, *more):
        command = [ARGUMENTS.frame, "--target-mac=02:00:00:00:00:02", "--target-ip=10.0.0.2"]
        command += ["--qpn=0x11", "--psn=77", *more]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def test_one_frame_is_whole_or_has_one_flipped_bit(self):
        good, bad = self.one_frame(), self.one_frame("--flip-icrc")
        self.assertEqual(Layer(good).l3[-4:], icrc_of(Layer(good).l3))
        different = [a ^ b for a, b in zip(good, bad) if a != b]
        self.assertEqual(different, [1])
        path = pathlib.Path(self.scratch.name) / "one.pcap"
        path.write_bytes(self.one_frame("--pcap", "--vni=5001"))
        rows = self.tshark(path, "vxlan.vni", "infiniband.bth.destqp", "infiniband.bth.psn")
        self.assertEqual([int(value, 0) for value in rows[0]], [5001, 0x11, 77])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--frame", required=True)
    parser.add_argument("--flows", required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
