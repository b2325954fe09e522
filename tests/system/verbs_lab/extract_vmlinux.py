#!/usr/bin/env python3
"""The kernel inside a bzImage, so that QEMU can start it without unpacking it in the guest.

usage: extract_vmlinux.py BZIMAGE VMLINUX

The header of a bzImage says where its payload is (Documentation/x86/boot.rst, protocol 2.08):
setup_sects at 0x1f1, payload_offset and payload_length at 0x248 and 0x24c.
"""

import lzma
import struct
import subprocess
import sys
import zlib

SECTOR = 512


def payload(image):
    """The compressed kernel, without the length that follows it."""
    if image[0x202:0x206] != b"HdrS":
        sys.exit("extract_vmlinux: this is no bzImage")
    setup_sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    begin = (setup_sectors + 1) * SECTOR + offset
    return image[begin : begin + length]


def unpacked(data):
    if data.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMADecompressor().decompress(data)
    if data.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(31).decompress(data)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        # Four bytes of length follow the frame, about which zstd complains.
        return subprocess.run(
            ["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ).stdout
    sys.exit("extract_vmlinux: unknown compression")


def main():
    with open(sys.argv[1], "rb") as file:
        kernel = unpacked(payload(file.read()))
    if not kernel.startswith(b"\x7fELF"):
        sys.exit("extract_vmlinux: the payload is no ELF file")
    with open(sys.argv[2], "wb") as file:
        file.write(kernel)


if __name__ == "__main__":
    main()
