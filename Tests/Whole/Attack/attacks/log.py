"""Has the service write a warning for each request, and then nobody reads its log."""

import os
import time

from house import Neighbour, post

WARNED = {"events": [], "dropped": [1]}


def attack(house):
    flood(house)
    house.stop_services()
    unread(house)


def flood(house):
    service, key = house.serve(), house.app()
    end, count = time.monotonic() + 5, 0
    while time.monotonic() < end:
        assert post(service.port, key, WARNED)[0] == 200
        count += 1
    written, left_out = service.log.stat().st_size, service.metric("bellwether_log_lines_left_out_total")
    print(f"  {count} requests, {written} bytes of log, {left_out:.0f} lines left out")
    assert written < 100_000, f"{count} requests wrote {written} bytes of log"
    assert left_out > count / 2


def unread(house):
    reading, writing = os.pipe()
    try:
        service, key = house.serve("--log-level", "debug", stderr=writing), house.app()
        # As full as it gets.
        os.set_blocking(writing, False)
        try:
            while True:
                os.write(writing, b"\n" * 4096)
        except BlockingIOError:
            pass
        os.set_blocking(writing, True)
        with Neighbour(service, house.app()) as neighbour:
            end = time.monotonic() + 5
            while time.monotonic() < end:
                assert post(service.port, key, WARNED, timeout=10)[0] == 200
        print(f"  {neighbour}")
        assert not neighbour.failures, neighbour.failures[0]
        service.stop(within=30)
    finally:
        os.close(reading)
        os.close(writing)
