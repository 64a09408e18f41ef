"""A mail server that keeps what it gets: sink.py DIRECTORY. Each mail is a file there, as it came, with its sender and
recipients in two lines before it. The file `port` says where it listens."""

import asyncio
import pathlib
import sys

from aiosmtpd.smtp import SMTP

home = pathlib.Path(sys.argv[1])


class Sink:
    async def handle_DATA(self, server, session, envelope):
        number = len(list(home.glob("*.eml")))
        head = f"{envelope.mail_from}\n{' '.join(envelope.rcpt_tos)}\n"
        whole = home / "being-written"
        whole.write_bytes(head.encode() + envelope.content)
        whole.rename(home / f"{number:03}.eml")
        return "250 OK"


async def listen():
    server = await asyncio.get_running_loop().create_server(lambda: SMTP(Sink()), "127.0.0.1", 0)
    name = home / "port-being-written"
    name.write_text(str(server.sockets[0].getsockname()[1]))
    name.rename(home / "port")
    await server.serve_forever()


asyncio.run(listen())
