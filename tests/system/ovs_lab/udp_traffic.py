#!/usr/bin/env python3
"""Probes of the lab: UDP to port 4791 and back, answered from the same port, as RoCE v2 agents do.

    udp_traffic.py echo ADDRESS                      answers until it is killed; prints "ready"
    udp_traffic.py send ADDRESS PEER PORT COUNT      prints how many of COUNT were answered

No checksums: a veth leaves them to hardware that a userspace datapath does not have.
"""
import socket
import sys
import time

ROCE_PORT = 4791
SO_NO_CHECK = 11
SPACING_S = 0.01
TIMEOUT_S = 0.1


def udp_socket(address, port):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((address, port))
    return made


def echo(address):
    """The answer goes to port 4791 from the prober's port: the mirrored flow."""
    listener = udp_socket(address, ROCE_PORT)
    senders = {}
    print("ready", flush=True)
    while True:
        data, (peer, port) = listener.recvfrom(2048)
        if port not in senders:
            senders[port] = udp_socket(address, port)
        senders[port].sendto(data, (peer, ROCE_PORT))


def send(address, peer, port, count):
    sender = udp_socket(address, port)
    receiver = udp_socket(address, ROCE_PORT)
    receiver.settimeout(TIMEOUT_S)
    answered = 0
    for number in range(count):
        sender.sendto(b"bonescan %08d" % number, (peer, ROCE_PORT))
        try:
            receiver.recv(2048)
            answered += 1
        except socket.timeout:
            pass
        time.sleep(SPACING_S)
    print(answered)


def main():
    if sys.argv[1:2] == ["echo"] and len(sys.argv) == 3:
        echo(sys.argv[2])
    elif sys.argv[1:2] == ["send"] and len(sys.argv) == 6:
        send(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
