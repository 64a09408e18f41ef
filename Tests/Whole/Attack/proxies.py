"""nginx, HAProxy and Caddy: each once before a service, and once answering by itself."""

import pathlib
import shutil
import subprocess

from house import Skipped, connect, free_port, wait_for

# Only what came from the service carries it.
MARK = "x-from-the-service"


def found():
    """Those that are installed."""
    here = [kind for kind in (Nginx, HAProxy, Caddy) if kind.path()]
    if not here:
        raise Skipped("neither nginx nor HAProxy nor Caddy is installed")
    return here


class Proxy:
    program, name = "", ""

    def __init__(self, directory, upstream):
        self.directory = directory / f"{self.program}-{upstream}"
        self.directory.mkdir(mode=0o755)
        self.port, self.alone = free_port(), free_port()
        self.said = open(self.directory / "said", "w")
        self.process = subprocess.Popen(
            self.command(self.configure(upstream)), stdout=self.said, stderr=self.said, cwd=self.directory,
            env={"HOME": str(self.directory), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        wait_for(self.answers, 30, self.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.said.close()

    @classmethod
    def path(cls):
        return shutil.which(cls.program, path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")

    def answers(self):
        said = (self.directory / "said").read_text()
        assert self.process.poll() is None, f"{self.name} has ended: {said}"
        try:
            connect(self.port).close()
            connect(self.alone).close()
            return True
        except OSError:
            return False

    def write(self, name, text):
        path = self.directory / name
        pathlib.Path(path).write_text(text)
        return str(path)


class Nginx(Proxy):
    program, name = "nginx", "nginx"

    def configure(self, upstream):
        paths = "".join(f"{kind}_temp_path {self.directory}/{kind}; " for kind in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return self.write("nginx.conf", f"""
daemon off; master_process off; pid {self.directory}/pid; error_log stderr crit;
events {{ worker_connections 256; }}
http {{
    access_log off; {paths}
    client_header_timeout 5s; client_body_timeout 5s; proxy_read_timeout 5s;
    upstream service {{ server 127.0.0.1:{upstream}; keepalive 1; }}
    server {{
        listen 127.0.0.1:{self.port};
        # Which is answered without a head, and could not be told from others.
        if ($server_protocol !~ "^HTTP/1") {{ return 400; }}
        location / {{
            proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
            proxy_next_upstream off; add_header {MARK} $upstream_status always;
        }}
    }}
    server {{ listen 127.0.0.1:{self.alone}; location / {{ return 200 "ok"; }} }}
}}
""")

    def command(self, path):
        return [self.path(), "-p", str(self.directory), "-e", "stderr", "-c", path]


class HAProxy(Proxy):
    program, name = "haproxy", "HAProxy"

    def configure(self, upstream):
        return self.write("haproxy.cfg", f"""
global
    maxconn 256
defaults
    mode http
    retries 0
    timeout connect 5s
    timeout client 5s
    timeout server 5s
    timeout http-request 5s
frontend proxy
    bind 127.0.0.1:{self.port}
    default_backend service
backend service
    http-reuse always
    server one 127.0.0.1:{upstream} maxconn 1
    http-response set-header {MARK} 1
frontend alone
    bind 127.0.0.1:{self.alone}
    http-request return status 200 content-type text/plain string ok
""")

    def command(self, path):
        return [self.path(), "-db", "-f", path]


class Caddy(Proxy):
    program, name = "caddy", "Caddy"

    def configure(self, upstream):
        return self.write("Caddyfile", f"""
{{
    admin off
    auto_https off
}}
http://:{self.port} {{
    bind 127.0.0.1
    reverse_proxy 127.0.0.1:{upstream} {{
        header_down {MARK} 1
        transport http {{
            max_conns_per_host 1
            keepalive_idle_conns 1
        }}
    }}
}}
http://:{self.alone} {{
    bind 127.0.0.1
    respond "ok" 200
}}
""")

    def command(self, path):
        return [self.path(), "run", "--adapter", "caddyfile", "--config", path]
