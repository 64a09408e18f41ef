"""Old protocols, answers in the middle of a body, and certificates that change, through TLS."""

import shutil
import signal
import socket
import ssl
import subprocess

from house import listen, wait_for


def attack(house):
    directory = house.directory / "tls"
    directory.mkdir()
    chain, key = make(directory, "served")
    service = house.serve("--tls-certificate", chain, "--tls-key", key, scheme="https")

    def open_tls(**settings):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        for name, value in settings.items():
            context.set_ciphers(value) if name == "ciphers" else setattr(context, name, value)
        return context.wrap_socket(socket.create_connection(("127.0.0.1", service.port), 10))

    for version in ("TLSv1", "TLSv1_1"):
        try:
            context = {"minimum_version": ssl.TLSVersion.TLSv1, "maximum_version": ssl.TLSVersion[version]}
            open_tls(ciphers="ALL:@SECLEVEL=0", **context).close()
            raise AssertionError(f"{version} was taken")
        except (ssl.SSLError, OSError):
            pass
    for version in ("TLSv1_2", "TLSv1_3"):
        with open_tls(minimum_version=ssl.TLSVersion[version], maximum_version=ssl.TLSVersion[version]) as client:
            name = client.cipher()[0]
            assert "GCM" in name or "CHACHA20" in name, name

    for length, status in ((b"900000000", b"401"), (b"100000000000000000", b"401"), (b"x", b"400")):
        with open_tls() as client:
            client.sendall(b"POST /v1/events HTTP/1.1\r\nHost: b\r\nContent-Length: " + length + b"\r\n\r\nabc")
            said, _ = listen(client)
            assert said.startswith(b"HTTP/1.1 " + status), said[:200]

    def serial():
        with open_tls() as client:
            return client.getpeercert(binary_form=True)

    first = serial()
    for file, new in zip((chain, key), make(directory, "second")):
        shutil.copy(new, file)
    service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: serial() != first, 20, "the new certificate")
    assert service.process.poll() is None, "SIGHUP ended the service"


def make(directory, name):
    chain, key = str(directory / (name + ".crt")), str(directory / (name + ".key"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-keyout", key, "-out", chain], check=True, capture_output=True)
    return chain, key
