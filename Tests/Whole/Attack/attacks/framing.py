"""Bytes that are one request to one reader and two to another: the service beside and behind nginx, HAProxy and Caddy."""

import re
import threading

import corpus
import proxies
from house import get, talk, together

STATUS = re.compile(rb"HTTP/1\.[01] ([2-5]\d\d)")


def attack(house):
    sequences = corpus.sequences(0 if house.quick else 900)
    kinds = proxies.found()
    lock, findings = threading.Lock(), []

    # Everything is on one database, which the first one makes.
    house.serve("--only", "ingest").stop()
    services = [house.serve("--only", "ingest") for _ in kinds]

    def compare(number):
        service, forwarded, refused = services[number], 0, 0
        with kinds[number](house.directory, service.port) as proxy:
            for place, sequence in enumerate(sequences):
                sequence = sequence.replace(b"MARK", b"%d.%d" % (number, place))
                first = beside(service, proxy, sequence)
                second, given, refusals = behind(service, proxy, sequence)
                forwarded, refused = forwarded + given, refused + refusals
                with lock:
                    findings.extend(f"{proxy.name}: {finding}: {sequence[:300]!r}" for finding in (first, second) if finding)
            with lock:
                print(f"  {proxy.name}: {len(sequences)} sequences; {forwarded:.0f} requests came through to the service, of "
                      f"which it refused {refused:.0f} with 400")

    together(len(kinds), compare)
    assert not findings, f"{len(findings)} differences, of which some:\n    " + "\n    ".join(findings[:20])


def answers(said):
    return [int(status) for status in STATUS.findall(said)]


def beside(service, proxy, sequence):
    """Both get the bytes. Who refuses some of them, or ends the connection, may have seen fewer requests than the other, and never
    more; who does neither has seen as many."""
    # Who is only slow, on a busy machine, has answered when it is asked with more patience.
    return difference(service, proxy, sequence, quiet=0.15) and difference(service, proxy, sequence, quiet=3)


def difference(service, proxy, sequence, quiet):
    ours, we_refuse = requests(service.port, sequence, quiet)
    theirs, they_refuse = requests(proxy.alone, sequence, quiet)
    # Of a body that is too long we may answer the first request and end the connection, where it waits for the rest.
    waits = (ours, theirs) == (1, 0) and we_refuse
    if ours > theirs and not they_refuse and not waits:
        return f"{ours} requests to us, {theirs} to it, which refuses none"
    # It may answer before a body is whole, where we wait: then both have seen as many once it is whole, or found to be broken.
    if ours < theirs and not we_refuse:
        statuses = answers(talk(service.port, sequence + FILL, quiet, most=2 + quiet)[0])
        if theirs not in (len(seen(statuses)), len(statuses)):
            return f"{ours} requests to us, who refuse none, {theirs} to it"
    return None


# Of a body that lacks some bytes, more than any chunk of the corpus lacks; what is over is no request to anybody.
FILL = b"Z" * 4096


def seen(statuses):
    """Those that answer a request: 404 and 405 do, and what refuses its head or its body does not."""
    return [status for status in statuses if status not in (400, 408, 413, 414, 431, 500, 501, 505)]


def requests(port, sequence, quiet):
    """How many requests it has seen in these bytes, and whether it has refused any of them, or ended the connection."""
    said, has_ended = talk(port, sequence, quiet, most=2 + quiet)
    statuses = answers(said)
    return len(seen(statuses)), len(seen(statuses)) < len(statuses) or has_ended


def behind(service, proxy, sequence):
    """What the proxy sends on as one request is one to the service: as many answers of the service as it has given, and the next
    client gets its own."""
    finding = None
    given, refused, passed = through(service, proxy, sequence)
    # It may have an answer and wait for the rest of a body before it passes it on.
    if given > passed:
        more, _, all_passed = through(service, proxy, sequence + FILL)
        if more > all_passed:
            more, _, all_passed = through(service, proxy, sequence + FILL, quiet=3)
        if more > all_passed:
            finding = f"the service gave {given:.0f} answers, and {passed} were passed on"
    try:
        status, body = get(proxy.port, "/healthz")
        if status != 200 or not body.startswith(b"ok "):
            finding = f"the next client got {status} {body[:100]!r}"
    except OSError as error:
        finding = f"the next client got {error!r}"
    return finding, given, refused


def through(service, proxy, sequence, quiet=0.3):
    """How many answers the service gives through the proxy, how many of them are 400, and how many are passed on."""
    before = counts(service)
    said, _ = talk(proxy.port, sequence, quiet, most=3 + quiet)
    given, refused = (now - then for now, then in zip(counts(service), before))
    return given, refused, len(re.findall(proxies.MARK.encode() + rb": *\d", said, re.IGNORECASE))


def counts(service):
    """Requests answered, and those of them that were no HTTP."""
    lines = [line for line in get(service.inside, "/metrics")[1].decode().splitlines()
             if line.startswith("bellwether_http_requests_total{")]
    return (sum(float(line.rsplit(" ", 1)[1]) for line in lines),
            sum(float(line.rsplit(" ", 1)[1]) for line in lines if 'status="400"' in line))
