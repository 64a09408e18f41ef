"""Takes all connections and all memory: idle clients, half heads, held bodies, answers that nobody reads."""

from house import Neighbour, connect, post, together, wait_for

MIB = 1 << 20


def attack(house):
    idle(house)
    house.stop_services()
    trickle(house)
    house.stop_services()
    memory(house)


def idle(house):
    """A stranger's connections, twice as many as there may be, lock nobody out."""
    service = house.serve("--connections", "1000")
    key, held = house.app(), []
    try:
        with Neighbour(service, key) as neighbour:
            for number in range(2000):
                client = connect(service.port)
                if number % 2:
                    client.sendall(b"POST /v1/ev")
                held.append(client)
            wait_for(lambda: len(neighbour.seconds) >= 20, 60, "a neighbour's envelopes")
        print(f"  {neighbour}")
        assert not neighbour.failures, neighbour.failures[0]
        assert service.metric("bellwether_connections ") <= 1000
    finally:
        [client.close() for client in held]


def trickle(house):
    """Who has a key, and sends the bodies of as many requests as there may be connections byte by byte, locks nobody out."""
    service = house.serve("--connections", "200")
    key, held = house.app(), []
    head = (f"POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n ").encode()
    try:
        for _ in range(200):
            client = connect(service.port)
            client.sendall(head)
            held.append(client)
        with Neighbour(service, house.app()) as neighbour:
            wait_for(lambda: len(neighbour.seconds) >= 20, 60, "a neighbour's envelopes")
        print(f"  {neighbour}")
        assert not neighbour.failures, neighbour.failures[0]
    finally:
        [client.close() for client in held]


def memory(house):
    """What the issue measured: 300 held bodies and 4,500 readers that do not read, here for a budget of 64 MiB."""
    service = house.serve("--connection-memory", str(64 * MIB), "--connections", "6000")
    key, held = house.app(), []
    before = service.memory
    head = (f"POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {MIB}\r\n\r\n").encode()
    readers, bodies = (450, 150) if house.quick else (4500, 300)
    try:
        with Neighbour(service, house.app(), every=0.2) as neighbour:
            def body(_):
                client = connect(service.port)
                held.append(client)
                try:
                    client.sendall(head + b" " * (MIB - 1))
                except OSError:
                    pass

            together(bodies, body)
            for _ in range(readers):
                client = connect(service.port, small=True)
                client.sendall(b"GET /openapi.yaml HTTP/1.1\r\nHost: b\r\n\r\n" * 4)
                held.append(client)
            wait_for(lambda: len(neighbour.seconds) >= 10, 60, "a neighbour's envelopes")
        grown, counted = service.memory - before, service.metric("bellwether_connection_memory_bytes")
        print(f"  grown by {grown / MIB:.0f} MiB, of which {counted / MIB:.0f} are counted; {neighbour}")
        assert counted <= 64 * MIB, f"{counted} bytes are held"
        # What the allocator keeps, and what is not counted.
        assert grown < 128 * MIB, f"the service has grown by {grown / MIB:.0f} MiB"
        # A neighbour may be told to come again, but always hears something.
        assert all(failure.startswith("503") for failure in neighbour.failures), neighbour.failures
    finally:
        [client.close() for client in held]
    assert post(service.port, key, {"events": []})[0] == 200
