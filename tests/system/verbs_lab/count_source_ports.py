#!/usr/bin/env python3
"""Counts the UDP source ports of the RoCE v2 packets that leave an interface; JSON on stdout.

usage: count_source_ports.py INTERFACE

Says "listening" once it does, and counts until its standard input ends.
Listens on a packet socket, so it sees what the device sent and not what somebody meant to send.
"""

import json
import select
import socket
import struct
import sys

ETH_P_ALL = 3
ETH_P_IP = 0x0800
PACKET_OUTGOING = 4
ROCE_PORT = 4791


def source_port(frame):
    """Of a RoCE v2 packet over IPv4, else None."""
    if len(frame) < 42 or struct.unpack_from("!H", frame, 12)[0] != ETH_P_IP:
        return None
    header_size = (frame[14] & 15) * 4
    if frame[23] != socket.IPPROTO_UDP or len(frame) < 14 + header_size + 8:
        return None
    source, target = struct.unpack_from("!HH", frame, 14 + header_size)
    return source if target == ROCE_PORT else None


def main():
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    packets.bind((sys.argv[1], 0))
    print("listening", flush=True)
    ports = {}
    while packets in select.select([packets, sys.stdin], [], [])[0]:
        frame, address = packets.recvfrom(256)
        port = source_port(frame) if address[2] == PACKET_OUTGOING else None
        if port is not None:
            ports[port] = ports.get(port, 0) + 1
    print(json.dumps({"packets": sum(ports.values()), "ports": sorted(ports)}))


if __name__ == "__main__":
    main()
