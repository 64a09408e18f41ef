"""Asks without a pause for what needs no key, on a thousand connections: pipelined, one by one, through new connections."""

import multiprocessing
import select
import socket
import time

from house import Neighbour, get, wait_for

HEAD = b"HTTP/1.1\r\nHost: b\r\n"
WRONG = b"POST /v1/events " + HEAD + b"Authorization: Bearer bww_nobody\r\nContent-Type: application/json\r\n"
REQUESTS = {
    "404": b"GET /nothing " + HEAD + b"\r\n",
    "health": b"GET /healthz " + HEAD + b"\r\n",
    "readiness": b"GET /readyz " + HEAD + b"\r\n",
    "description": b"GET /openapi.yaml " + HEAD + b"\r\n",
    "no key": b"POST /v1/events " + HEAD + b"Content-Length: 0\r\n\r\n",
    "wrong key": WRONG + b"Content-Length: 0\r\n\r\n",
    "wrong key and a body": WRONG + b"Content-Length: 2000\r\n\r\n" + b"x" * 2000,
    "not HTTP": b"what?\r\n\r\n",
}


def attack(house):
    connections, seconds = (200, 1) if house.quick else (1000, 8)
    service = house.serve("--connections", "2000")
    key = house.app()
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as nobody:
        # The same work for the machine, but not for the service.
        beside = neighbour(service, key, nobody.getsockname()[1], REQUESTS["404"], connections, seconds, False)
    print(f"  beside strangers of somebody else: {beside}")
    for name, request in REQUESTS.items():
        for anew in (False, True):
            if name == "not HTTP" and not anew:
                continue
            under = neighbour(service, key, service.port, request, connections, seconds, anew)
            print(f"  {name}, {'each in a new connection' if anew else 'pipelined'}: {under}")
            assert not under.failures, under.failures[0]
            # In a quick run, it is the machine that is busy.
            if not house.quick:
                most = 3 * beside.percentile(0.99) + 0.05
                assert under.percentile(0.99) <= most, f"the neighbour waited for over {most:.2f} s"
    wait_for(lambda: service.metric("bellwether_connections ") == 0, 60, "the strangers to be gone")


def neighbour(service, key, port, request, connections, seconds, anew):
    """How somebody with a key fares while strangers send this to the port, and whether a monitor gets its answer meanwhile."""
    strangers = [multiprocessing.Process(target=ask, args=(port, request, connections // 2, seconds, anew)) for _ in range(2)]
    [stranger.start() for stranger in strangers]
    with Neighbour(service, key) as there:
        assert get(service.port, "/healthz", timeout=30)[0] == 200
        [stranger.join() for stranger in strangers]
        wait_for(lambda: there.seconds, 60, "an envelope of the neighbour")
    return there


def ask(port, request, count, seconds, anew):
    end = time.monotonic() + seconds
    stream = request if anew else request * (1 + 16_000 // len(request))
    sent, poller = {}, select.epoll()

    def connect():
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", port))
        sent[client.fileno()] = [client, 0]
        poller.register(client, select.EPOLLIN | select.EPOLLOUT)

    for _ in range(count):
        connect()
    while time.monotonic() < end:
        for number, changes in poller.poll(0.1):
            client, position = sent[number]
            try:
                if changes & ~select.EPOLLOUT and (not client.recv(1 << 16) or anew):
                    raise ConnectionError
                if changes & select.EPOLLOUT and position < len(stream):
                    position += client.send(stream[position:])
                    sent[number][1] = position if anew else position % len(stream)
                    if sent[number][1] == len(stream):
                        poller.modify(client, select.EPOLLIN)
            except BlockingIOError:
                pass
            except OSError:
                poller.unregister(client)
                client.close()
                connect()
