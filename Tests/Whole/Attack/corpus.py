"""Byte sequences about which two readers might disagree where a request ends: what is known of request smuggling, and mutations.

Every sequence is what stands on one connection; `MARK` in it is replaced by something that no other sequence has.
"""

import random

CRLF = b"\r\n"
HIDDEN = b"GET /healthz?hidden=MARK HTTP/1.1\r\nHost: b\r\n\r\n"


def post(fields, body, line=b"POST /healthz?MARK HTTP/1.1"):
    return line + b"\r\nHost: b\r\n" + fields + b"\r\n\r\n" + body


def sequences(count, seed=1):
    """The known ones, and mutations of them up to `count`."""
    known = list(dict.fromkeys(by_hand()))
    numbers = random.Random(seed)
    made = list(known)
    while len(made) < count:
        made.append(mutated(numbers, known))
    return made


def by_hand():
    length = b"Content-Length: %d" % len(HIDDEN)
    chunked = b"Transfer-Encoding: chunked"
    # Two answers to where the body ends.
    for first, second in (
            (length, chunked), (chunked, length), (length, b"Content-Length: 0"), (b"Content-Length: 0", length)):
        yield post(first + CRLF + second, b"0\r\n\r\n" + HIDDEN)
        yield post(first + CRLF + second, HIDDEN)
    # Lengths in other spellings.
    for text in (b"+%d", b" %d", b"%d ", b"\t%d\t", b"0%d", b"%d\0", b"%d\0, 0", b"%d,0", b"%d, %d", b"%d.0", b"0x%x", b"-%d",
                 b"%d\x0b", b"%d;x", b"\"%d\"", b"%de0"):
        value = text.replace(b"%d", b"%d" % len(HIDDEN)).replace(b"%x", b"%x" % len(HIDDEN))
        yield post(b"Content-Length:" + value, HIDDEN)
        yield post(b"Content-Length: 0\r\nX:" + value, HIDDEN)
    for value in (b" x", b"", b" 18446744073709551616"):
        yield post(b"Content-Length:" + value, HIDDEN)
    # Names in other spellings.
    for name in (b"Content-Length ", b" Content-Length", b"Content-Length\t", b"Content_Length", b"content-length",
                 b"Content-Length\0", b"\0Content-Length", b"Content-Length\x0b", b"Content-Len\xcdgth",
                 b"X\r\n Content-Length", b": x\r\nContent-Length", b"X: y\nContent-Length", b"X: y\rContent-Length"):
        yield post(name + b": %d" % len(HIDDEN), HIDDEN)
    # Encodings in other spellings.
    for value in (b" chunked", b"chunked", b" chunked ", b"\tchunked", b" Chunked", b" CHUNKED", b" xchunked",
                  b" chunked, identity", b" identity, chunked", b" identity", b" gzip, chunked", b" chunked\0",
                  b" \x0bchunked", b" \x0cchunked", b" chunked;q=1", b" \"chunked\"", b" 'chunked'", b" chunked,",
                  b" ,chunked", b" chun\r\n ked", b"\r\n chunked", b" chunked\r\nTransfer-Encoding: chunked",
                  b" chunked\r\nTransfer-Encoding: x", b" x\r\nTransfer-Encoding: chunked", b" chunked\x80", b" chu\nked",
                  b" chun\xe2\x84\xaaed"):
        yield post(b"Transfer-Encoding:" + value, b"0\r\n\r\n" + HIDDEN)
        yield post(length + b"\r\nTransfer-Encoding:" + value, b"0\r\n\r\n" + HIDDEN)
    for name in (b"Transfer-Encoding ", b" Transfer-Encoding", b"Transfer_Encoding", b"transfer-encoding",
                 b"Transfer-Encoding\t", b"Transfer-Encoding\0", b"X: y\nTransfer-Encoding", b"X: y\rTransfer-Encoding",
                 b": x\r\nTransfer-Encoding"):
        yield post(name + b": chunked", b"0\r\n\r\n" + HIDDEN)
        yield post(length + CRLF + name + b": chunked", b"0\r\n\r\n" + HIDDEN)
    # Chunks.
    for size in (b"3", b"03", b"000000000003", b"3 ", b" 3", b"3\t", b"3;x", b"3 ;x", b"3;x=\"y\"", b"3;\"\r\"", b"3;\n",
                 b"3;x\ry", b"3\0", b"0x3", b"+3", b"-3", b"3x", b"3,", b"3\n", b"\n3", b"3\r", b"10000000000000003",
                 b"0000000000000000000003", b"3;" + b"x" * 5000):
        for end in (b"\r\n", b"\n"):
            yield post(chunked, size + end + b"abc\r\n0\r\n\r\n" + HIDDEN)
    for body in (b"3\r\nabc0\r\n\r\n", b"3\r\nabc\n0\r\n\r\n", b"3\r\nabc\r0\r\n\r\n", b"3\r\nabcXX0\r\n\r\n",
                 b"3\r\nabcd\r\n0\r\n\r\n", b"3\r\nab\r\n0\r\n\r\n", b"0\r\n", b"0\n\n", b"0\r\n\n", b"0\n\r\n",
                 b"00\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"0\r\nX: y\n\r\n", b"0\r\n: x\r\n\r\n", b"0\r\nX : y\r\n\r\n",
                 b"0\r\n X: y\r\n\r\n", b"0\r\nContent-Length: 9\r\n\r\n", b"0;x\r\n\r\n", b"\r\n0\r\n\r\n", b"",
                 b"g\r\n\r\n", b"0\r\nX\r\n\r\n", b"0\r\n\0\r\n\r\n"):
        yield post(chunked, body + HIDDEN)
    # Heads that end where not everybody sees it.
    early = b"GET /healthz?early=MARK HTTP/1.1\r\nHost: b"
    for fields in (b": x", b":", b"", b"X", b"X:", b"X\0: y", b"X: \0", b"X: y\r", b"X: y\r\r", b"X: y\n", b"\nX: y",
                   b"X: y\n\n" + early, b"X: y\r\n\n" + early, b"X: y\n\r\n" + early, b"X: y\r\n: \r\n" + early):
        yield b"GET /healthz?MARK HTTP/1.1\r\nHost: b\r\n" + fields + b"\r\n\r\n" + HIDDEN
        yield b"GET /healthz?MARK HTTP/1.1\r\n" + fields + b"\r\nHost: b\r\n\r\n" + HIDDEN
    # Request lines.
    for line in (b"GET /healthz?MARK HTTP/1.1", b"GET /healthz?MARK HTTP/1.0", b"GET /healthz?MARK",
                 b"GET /healthz?MARK HTTP/9.9", b"GET /healthz?MARK HTTP/1.2", b"GET /healthz?MARK HTTP/01.1",
                 b"GET /healthz?MARK  HTTP/1.1", b"GET  /healthz?MARK HTTP/1.1", b"GET\t/healthz?MARK HTTP/1.1",
                 b" GET /healthz?MARK HTTP/1.1", b"\r\nGET /healthz?MARK HTTP/1.1", b"\nGET /healthz?MARK HTTP/1.1",
                 b"\rGET /healthz?MARK HTTP/1.1", b"GET /healthz?MARK HTTP/1.1 ", b"GET /healthz?MARK HTTP/1.1\0",
                 b"GET /healthz?\0MARK HTTP/1.1", b"GET /healthz?MARK HTTP/1.1\r", b"GET /healthz?MARK HTTP/1.1\n",
                 b"GET /healthz?MARK\x80 HTTP/1.1", b"GET /healthz?a b HTTP/1.1", b"GET /healthz?#MARK HTTP/1.1",
                 b"get /healthz?MARK HTTP/1.1", b"GE:T /healthz?MARK HTTP/1.1", b"GARBAGE",
                 b"GET http://b/healthz?MARK HTTP/1.1", b"GET healthz HTTP/1.1", b"OPTIONS * HTTP/1.1",
                 b"CONNECT b:80 HTTP/1.1", b"PRI * HTTP/2.0", b"HEAD /healthz?MARK HTTP/1.1"):
        yield line + b"\r\nHost: b\r\n\r\n" + HIDDEN
    # Bodies where none is awaited, hosts, hops.
    for fields in (b"Content-Length: 3", b"Content-Length: 0", b"Expect: 100-continue\r\nContent-Length: 3", b"Expect: x",
                   b"Connection: close", b"Connection: Content-Length\r\nContent-Length: 3",
                   b"Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked", b"Connection: keep-alive, close",
                   b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
                   b"Upgrade: websocket\r\nConnection: Upgrade", b"Host: c", b"TE: chunked", b"Trailer: Content-Length"):
        for method in (b"GET", b"HEAD", b"OPTIONS", b"DELETE"):
            yield post(fields, b"abc" + HIDDEN, method + b" /healthz?MARK HTTP/1.1")
    for host in (b"", b"b, c", b"b/c", b"b@c", b"b b", b"[::1]", b"b:99999", b"b\0", b"\x80"):
        yield b"GET /healthz?MARK HTTP/1.1\r\nHost: " + host + b"\r\n\r\n" + HIDDEN
    yield b"GET /healthz?MARK HTTP/1.1\r\n\r\n" + HIDDEN
    old = b" /healthz?MARK HTTP/1.0\r\nConnection: keep-alive\r\n"
    yield b"GET" + old + b"Content-Length: 3\r\n\r\nabc" + HIDDEN
    yield b"POST" + old + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN


PIECES = [b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b": x\r\n", b"0\r\n\r\n", b"Content-Length: 3\r\n",
          b"Transfer-Encoding: chunked\r\n", b"\x0b", b"\x80", b"\xff", b",", b";", b"0", b"1", HIDDEN]


def mutated(numbers, known):
    sequence = bytearray(numbers.choice(known))
    for _ in range(numbers.randint(1, 3)):
        place = numbers.randrange(len(sequence) + 1)
        choice = numbers.randrange(4)
        if choice == 0:
            sequence[place:place] = numbers.choice(PIECES)
        elif choice == 1:
            del sequence[place:place + numbers.randint(1, 4)]
        elif choice == 2 and place < len(sequence):
            sequence[place] = numbers.randrange(256)
        else:
            other = numbers.choice(known)
            sequence[place:] = other[numbers.randrange(len(other) + 1):]
    return bytes(sequence)
