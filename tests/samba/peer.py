# SPDX-License-Identifier: MIT
"""Two clients of the remote registry, Samba's client library and impacket: both send the calls'
bytes that are made here (impacket's own helper for queries takes seconds for a megabyte). And
requests in the format of our server, whose code is written here a second time."""
import socket
import struct

OPEN_MACHINE, OPEN_DATA, CLOSE, ENUM_KEY, ENUM_VALUE, OPEN_KEY, INFO, QUERY, VERSION = 2, 3, 5, 9, 10, 15, 16, 17, 26
OPEN_TEXT, OPEN_NLS_TEXT = 32, 33
MORE_DATA = 234
DATA_ROOT = 0x80000004


class Fault(Exception):
    """The call was answered by a fault, or the connection died; `code` is what the peer says."""

    def __init__(self, code):
        super().__init__(f"fault {code:#x}" if isinstance(code, int) else str(code))
        self.code = code


def padded(data):
    return data + b"\0" * (-len(data) % 4)


def text(name, capacity=None):
    """RRP_UNICODE_STRING with its array."""
    units = (name + "\0").encode("utf-16le")
    capacity = len(units) if capacity is None else capacity
    return padded(struct.pack("<HHIIII", len(units), capacity, 0x20004, capacity // 2, 0, len(units) // 2) + units)


def value_capacity(size):
    """Pointers to type, data, size and length; size None: no data, only the size is wanted."""
    data = struct.pack("<I", 0) if size is None else struct.pack("<IIII", 0x2000c, size, 0, 0)
    return struct.pack("<II", 0x20008, 0) + data + struct.pack("<IIII", 0x20010, size or 0, 0x20014, 0)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        self.at += 4
        return struct.unpack_from("<I", self.data, self.at - 4)[0]

    def array(self, unit=1):
        capacity, offset, count = self.number(), self.number(), self.number()
        assert offset == 0 and count <= capacity, (capacity, offset, count)
        begin = self.at
        self.at += count * unit
        assert self.at <= len(self.data)
        data = self.data[begin:self.at]
        self.at += -self.at % 4
        return capacity, data

    def text(self):
        lengths = self.number()
        if not self.number():
            return None
        capacity, data = self.array(2)
        assert len(data) == lengths & 0xffff and capacity * 2 == lengths >> 16
        assert not data or data.endswith(b"\0\0")
        return data[:-2].decode("utf-16le")

    def value(self):
        """Type, data, size; the three sizes of a right answer agree."""
        kind = self.number() and self.number()
        capacity, data = self.array() if self.number() else (None, None)
        size = self.number() and self.number()
        length = self.number() and self.number()
        assert capacity in (None, size) and length == len(data or b""), (capacity, size, length)
        return kind, data, size

    def end(self):
        status = self.number()
        assert self.at == len(self.data), (self.at, len(self.data))
        return status


class Registry:
    """The calls; a client gives `call`, operation and bytes to bytes."""

    def open(self, operation=OPEN_DATA, access=0x02000000):
        reader = Reader(self.call(operation, struct.pack("<II", 0, access)))
        reader.at = 20
        return reader.data[:20], reader.end()

    def open_key(self, above, name, access=0x20019):
        reader = Reader(self.call(OPEN_KEY, above + text(name) + struct.pack("<II", 0, access)))
        reader.at = 20
        return reader.data[:20], reader.end()

    def close(self, handle):
        reader = Reader(self.call(CLOSE, handle))
        reader.at = 20
        return reader.end()

    def query(self, handle, name, size=65536):
        """Status, type, data, size."""
        reader = Reader(self.call(QUERY, handle + text(name) + value_capacity(size)))
        found = reader.value()
        return (reader.end(), *found)

    def read(self, handle, name, size=65536):
        """As Windows' clients do: a larger and larger buffer while the answer is 234."""
        while True:
            status, kind, data, _ = self.query(handle, name, size)
            if status != MORE_DATA or size > 64 << 20:
                return status, kind, data
            size *= 2

    def enum_key(self, handle, index, capacity=512):
        stub = handle + struct.pack("<I", index) + struct.pack("<HHIIII", 0, capacity, 0x20000, capacity // 2, 0, 0)
        stub += struct.pack("<IHHI", 0x20004, 0, 0, 0) + struct.pack("<III", 0x20008, 0, 0)
        reader = Reader(self.call(ENUM_KEY, stub))
        name = reader.text()
        if reader.number():
            reader.text()
        if reader.number():
            reader.at += 8
        return reader.end(), name

    def enum_value(self, handle, index, capacity=512, size=65536):
        stub = handle + struct.pack("<I", index) + struct.pack("<HHIIII", 0, capacity, 0x20000, capacity // 2, 0, 0)
        reader = Reader(self.call(ENUM_VALUE, stub + value_capacity(size)))
        name = reader.text()
        kind, data, _ = reader.value()
        return reader.end(), name, kind, data

    def info(self, handle):
        """Status and subkeys, longest subkey, longest class, values, longest name, largest value."""
        reader = Reader(self.call(INFO, handle + struct.pack("<HHI", 0, 0, 0)))
        reader.text()
        numbers = [reader.number() for _ in range(6)]
        reader.at += 12
        return reader.end(), numbers

    def version(self, handle):
        reader = Reader(self.call(VERSION, handle))
        return reader.number(), reader.end()


class Samba(Registry):
    """Samba's client library; `options` are those of its bindings: "seal,spnego", "sign,ntlm", ""."""

    def __init__(self, ready, user, options="seal,spnego", encrypt=False):
        from samba.credentials import Credentials, SMB_ENCRYPTION_REQUIRED
        from samba.dcerpc import winreg
        from samba.param import LoadParm
        settings = LoadParm()
        settings.set("smb ports", ready["PORT"])
        settings.set("workgroup", "OPENPERFLIB")
        who = Credentials()
        who.guess(settings)
        if user is None:
            who.set_anonymous()
        else:
            who.set_username(user)
            who.set_password(ready["SMBPASS"])
            who.set_domain("OPENPERFLIB")
        if encrypt:
            who.set_smb_encryption(SMB_ENCRYPTION_REQUIRED)
        binding = "ncacn_np:127.0.0.1[\\pipe\\winreg" + ("," + options if options else "") + "]"
        self.pipe = winreg.winreg(binding, settings, who)

    def call(self, operation, stub):
        try:
            return self.pipe.request(operation, stub)
        except Exception as error:
            raise Fault(error.args[0] if error.args else str(error)) from error

    def vanish(self):
        self.pipe = None


class Impacket(Registry):
    LEVELS = {"": None, "sign": 5, "seal": 6}

    def __init__(self, ready, user, options="seal", encrypt=False):
        from impacket.dcerpc.v5 import transport, rrp
        self.pipe = transport.DCERPCTransportFactory(r"ncacn_np:127.0.0.1[\pipe\winreg]")
        self.pipe.set_dport(int(ready["PORT"]))
        self.pipe.set_credentials(user or "", ready["SMBPASS"] if user else "", "OPENPERFLIB")
        self.rpc = self.pipe.get_dce_rpc()
        if self.LEVELS[options]:
            self.rpc.set_auth_level(self.LEVELS[options])
        self.rpc.connect()
        self.rpc.bind(rrp.MSRPC_UUID_RRP)

    def call(self, operation, stub):
        from impacket.dcerpc.v5.rpcrt import DCERPCException
        try:
            self.rpc.call(operation, stub)
            return self.rpc.recv()
        except DCERPCException as error:
            raise Fault(error.get_error_code() or str(error)) from error

    def vanish(self):
        self.pipe.get_smb_connection().getSMBServer()._NetBIOSSession.get_socket().close()


class Stream:
    """Our server's own protocol, over its socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.number = 0

    def receive(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise Fault("gone")
            data += part
        return data

    def ask(self, operation, root=DATA_ROOT, path="", name=None, capacity=64 << 20, flags=1, index=0):
        """Status, type, data."""
        self.number += 1
        path = path.encode() + b"\0"
        name = b"" if name is None else name.encode() + b"\0"
        self.socket.sendall(struct.pack("<I4sIHHIIIII", 36 + len(path) + len(name), b"OPK1", self.number,
                                        operation, flags, root, index, capacity, len(path), len(name)) + path + name)
        size, _, number, status, kind, _, name_size, data_size = struct.unpack("<I4sIIIIII", self.receive(32))
        assert number == self.number and size == 32 + name_size + data_size
        return status, kind, self.receive(name_size + data_size)[name_size:]


def walk(block):
    """Strictly: every length adds up. The title indices of its objects."""
    assert block[:8] == "PERF".encode("utf-16le")
    total, header, objects = struct.unpack_from("<III", block, 20)
    assert total == len(block), (total, len(block))
    found, at = [], header
    for _ in range(objects):
        length, definition, head, index = struct.unpack_from("<IIII", block, at)
        assert length % 8 == 0 and head <= definition <= length and at + length <= total
        found.append(index)
        at += length
    assert at == total
    return found
