"""Every route of the OpenAPI document, with whatever people and programs may send: never a 500."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import l2t
from l2t.interfaces.dashboard.settings import Limits

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(
        [
            "0",
            "-1",
            "1e999",
            "nan",
            "9" * 30,
            "\0",
            "'; DROP TABLE l2t_runs; --",
            "%00",
            "../..",
            "ü",
        ]
    ),
)
FILE = st.fixed_dictionaries(
    {"id": st.one_of(ANYTHING, st.sampled_from(["upload:" + "0" * 32, "store:" + "0" * 64]))},
    optional={
        name: st.one_of(ANYTHING, st.lists(ANYTHING, max_size=2)) for name in ("label", "ids")
    },
)
METHODS = ("get", "post", "put", "delete", "patch", "head", "options")


@pytest.fixture(scope="module")
def asked_key(own_store, done_key) -> str:
    """A suggestion without an outcome."""
    return l2t.Agent(own_store).ask(own_store.run(done_key).pair, 15).id


@pytest.fixture(scope="module")
def fuzzed(visiting, own_store, asked_key, tmp_path_factory):
    # No job may start: what is under test are the routes, not thousands of processes.
    with visiting(own_store, limits=Limits(jobs=1), max_upload=2**16) as client:
        assert client.app.state.context.jobs._slots.acquire(blocking=False)
        preview = {"n_rows": 1, "n_features": 1, "columns": [{"name": "a"}], "decimal": "."}
        preview |= {"missing": [], "classes": []}
        example = {"files": [{"name": "a.csv", "preview": preview}] * 2}

        async def run(kind, prepare):
            if kind == "check":
                prepare(tmp_path_factory.mktemp("check"))
            return example if kind == "example" else preview

        client.app.state.context.jobs.run = run
        yield client
        client.app.state.context.jobs._slots.release()


@pytest.fixture(scope="module")
def routes(fuzzed):
    document = fuzzed.get("/api/openapi.json").json()
    found = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            found.append(
                (method, path, operation.get("parameters", []), "requestBody" in operation)
            )
    assert len(found) > 25
    return found


def likely(schema: dict[str, Any], keys: list[str]) -> st.SearchStrategy[Any]:
    """Return values that a schema allows, so that fuzzing gets past the front door."""
    for option in schema.get("anyOf", []):
        if option.get("type") != "null":
            return likely(option, keys)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("type") == "integer":
        most = min(schema.get("maximum", 10**6), 10**9)
        return st.integers(schema.get("minimum", -(10**6)), most)
    if schema.get("type") == "boolean":
        return st.sampled_from(["true", "false"])
    if schema.get("type") == "array":
        return st.lists(likely(schema["items"], keys), max_size=3)
    if schema.get("format") == "date-time":
        return st.datetimes().map(lambda time: time.isoformat())
    if "pattern" in schema and "[0-9a-f]" in schema["pattern"]:
        return st.one_of(
            st.sampled_from(keys), st.text("0123456789abcdef", min_size=32, max_size=64)
        )
    return st.one_of(
        st.sampled_from(["default", "gfk", "photos[0]", "a.csv", "W.npy"]), st.text(max_size=20)
    )


def as_text(value: Any) -> str:
    return str(value).encode("utf-8", "replace").decode()


@pytest.mark.integration
@given(data=st.data())
@settings(max_examples=600)
def test_no_route_fails_on_its_own(fuzzed, routes, done_key, failed_key, asked_key, proves, data):
    method, path, parameters, has_body = data.draw(st.sampled_from(routes))
    keys = [asked_key, done_key, failed_key, "0" * 32, "0" * 64]
    query: list[tuple[str, str]] = []
    for each in parameters:
        value = data.draw(st.one_of(likely(each["schema"], keys), ANYTHING), label=each["name"])
        if each["in"] == "path":
            path = path.replace(f"{{{each['name']}}}", quote(as_text(value), safe="") or "-")
        elif value is not None:
            several = value if isinstance(value, list) else [value]
            query += [(each["name"], as_text(one)) for one in several]
    headers, body = {}, b""
    if has_body:
        wanted = ("source", "target", "sources", "n_labels", "n_classes", "impute")
        wanted += ("accuracy_before", "accuracy_after")
        fields = st.fixed_dictionaries(
            {},
            optional={
                name: st.one_of(ANYTHING, FILE, st.lists(st.one_of(ANYTHING, FILE), max_size=2))
                for name in wanted
            },
        )
        body = data.draw(
            st.one_of(fields.map(lambda given: json.dumps(given).encode()), st.binary(max_size=100))
        )
        headers["content-type"] = data.draw(
            st.sampled_from(["application/json", "application/octet-stream", "text/plain"])
        )
    if data.draw(st.integers(0, 9)) == 0:
        method = data.draw(st.sampled_from(METHODS))
    answer = fuzzed.request(
        method, path, params=query, headers=headers, content=body, follow_redirects=False
    )
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400 and method != "head":
        message = answer.json()["error"]
        assert message
        assert "\n" not in message
        assert "Traceback" not in message
    assert "content-security-policy" in answer.headers
    proves("No request to a documented route of the dashboard is answered by 500", 600, "requests")


@given(path=st.text(max_size=60))
@settings(max_examples=100)
def test_no_address_fails(fuzzed, path):
    answer = fuzzed.get("/" + quote(as_text(path)), follow_redirects=False)
    assert answer.status_code < 500
