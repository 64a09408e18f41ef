"""Reads a mail as a mail reader does, and says what it shows as JSON: read.py FILE."""

import email
import email.policy
import json
import sys

sender, recipients, rest = open(sys.argv[1], "rb").read().split(b"\n", 2)
mail = email.message_from_bytes(rest, policy=email.policy.default)
text, html = mail.get_body(("plain",)), mail.get_body(("html",))
json.dump({
    "sender": sender.decode(), "recipients": recipients.decode().split(), "type": mail.get_content_type(),
    "headers": {name.lower(): str(value) for name, value in mail.items()},
    "text": text.get_content(), "html": html.get_content(), "defects": [str(defect) for defect in mail.defects],
}, sys.stdout)
