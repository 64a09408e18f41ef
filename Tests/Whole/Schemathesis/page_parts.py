"""Leads most requests to an app and to tables that are there."""

import json
import os
import urllib.request

import schemathesis

known = {}


def tables(path):
    """The names of a page's tables, as the page lists them."""
    if path not in known:
        request = urllib.request.Request(
            os.environ["PAGES"] + path.replace("{app}", "described") + "?format=json",
            headers={"Authorization": "Bearer " + os.environ["READER_KEY"]})
        with urllib.request.urlopen(request, timeout=30) as answer:
            known[path] = [table["table"] for table in json.load(answer)["tables"]]
    return known[path]


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    # Every fourth is as it comes.
    if path_parameters and "app" in path_parameters and len(str(path_parameters["app"])) % 4:
        return {**path_parameters, "app": "described"}
    return path_parameters


@schemathesis.hook
def map_query(context, query):
    path = context.operation.path
    if query and "table" in query and path.startswith("/app") or path == "/":
        names = tables(path)
        word = str((query or {}).get("table", ""))
        if names and len(word) % 4:
            return {**query, "table": names[len(word) % len(names)]}
    return query
