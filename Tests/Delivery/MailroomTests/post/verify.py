"""Verifies a signed delivery with a library for receivers: verify.py KEY, the headers and the body as JSON on standard
input."""

import json
import sys

from standardwebhooks.webhooks import Webhook

given = json.load(sys.stdin)
json.dump(Webhook(sys.argv[1]).verify(given["body"].encode(), given["headers"]), sys.stdout)
