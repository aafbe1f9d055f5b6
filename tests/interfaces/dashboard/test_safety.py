"""Who may ask what."""

from __future__ import annotations

import re

import pytest

from l2t.exceptions import InvalidInputError
from l2t.interfaces.dashboard.settings import Settings

TOKEN = "correct-horse-battery"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "[::2]"]
)
def test_a_host_that_is_not_ours_is_refused(client, host, proves):
    answer = client.get("/api/totals", headers={"host": host})
    assert answer.status_code == 421
    assert "is not a name of this server" in answer.json()["error"]
    forwarded = {"x-forwarded-host": f"localhost, {host}"}
    assert client.get("/api/totals", headers=forwarded).status_code == 421
    assert client.get("/", headers={"host": host}).status_code == 421
    proves("A request to the dashboard under a foreign name is refused", 3, "requests")


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:8765", "LOCALHOST", "[::1]:8765"])
def test_names_of_this_machine_are_ours(client, host):
    assert client.get("/api/totals", headers={"host": host}).status_code == 200


def test_where_others_can_reach_it_there_is_a_token():
    proxied = ({"hosts": ("team.example",)}, {"root_path": "/l2t"})
    for settings in ({"host": "0.0.0.0"}, {"host": "10.0.0.1"}, *proxied):
        assert len(Settings(**settings).token) >= 24
        assert Settings(**settings).token != Settings(**settings).token
    assert Settings().token is None
    with pytest.raises(InvalidInputError, match="at least 16 characters, got 5"):
        Settings(host="0.0.0.0", token="short")
    for path in ("l2t", "/l2t/", "/", "//evil.example", "/a b"):
        with pytest.raises(InvalidInputError, match="root_path must be a path such as /l2t"):
            Settings(root_path=path)
    assert not Settings(host="0.0.0.0", token=TOKEN).is_local
    for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        assert Settings(host=host).is_local


def test_on_all_addresses_an_address_is_ours_and_a_name_is_not(visiting, store):
    bearer = {"authorization": f"Bearer {TOKEN}"}
    with visiting(store, host="0.0.0.0", token=TOKEN) as client:
        for host, status in (("192.168.1.7:8765", 200), ("[fe80::1]", 200), ("evil.example", 421)):
            assert client.get("/api/totals", headers={"host": host} | bearer).status_code == status


def test_a_token_opens_everything_and_nothing_is_open_without(visiting, store):
    with visiting(store, token=TOKEN) as client:
        for path in ("/", "/api/totals", "/api/openapi.json", "/static/base.js"):
            assert client.get(path).status_code == 401, path
        assert client.get("/", params={"token": "wrong"}).status_code == 401
        assert client.get("/", headers={"cookie": "l2t_token=wrong; ="}).status_code == 401
        assert client.get("/", headers={"authorization": "Bearer"}).status_code == 401
        header = {"authorization": f"Bearer {TOKEN}"}
        assert client.get("/api/totals", headers=header).status_code == 200
        entered = client.get(f"/experiences?token={TOKEN}&page=2", follow_redirects=False)
        assert entered.status_code == 303
        assert entered.headers["location"] == "/experiences?page=2"
        for flag in ("HttpOnly", "SameSite=strict"):
            assert flag in entered.headers["set-cookie"]
        assert client.get("/api/totals").status_code == 200, "the cookie is known now"


def test_under_a_path_and_with_tls_the_cookie_is_secure_and_links_keep_the_path(visiting, store):
    with visiting(store, token=TOKEN, root_path="/l2t", hosts=("team.example",)) as client:
        for path in ("https://team.example/", "https://team.example/l2t/"):
            entered = client.get(path, params={"token": TOKEN}, follow_redirects=False)
            assert entered.headers["location"] == "/l2t/"
            for flag in ("Secure", "Path=/l2t/"):
                assert flag in entered.headers["set-cookie"]
        client.headers["authorization"] = f"Bearer {TOKEN}"
        for path in ("/experiences", "/l2t/experiences", "/nothing"):
            links = re.findall(r'(?:href|src)="(/[^"]*)', client.get(path).text)
            assert links
            assert all(link.startswith("/l2t/") for link in links)
        for path in ("/static/base.js", "/l2t/static/base.js", "/api/totals", "/l2t/api/totals"):
            assert client.get(path).status_code == 200, path
        assert client.get("/l2t", follow_redirects=False).headers["location"].endswith("/l2t/")
        assert client.get("/l2t/api/nothing").json() == {"error": "there is no such page"}


def test_a_token_never_leads_to_another_server(visiting, store):
    with visiting(store, token=TOKEN) as client:
        answer = client.get(f"//evil.example/?token={TOKEN}", follow_redirects=False)
        assert answer.headers["location"].startswith("/")
        assert not answer.headers["location"].startswith("//")


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
    ],
)
def test_pages_of_other_sites_cannot_change_anything(client, headers, proves):
    paths = (
        "/api/predictions",
        "/api/rankings",
        "/api/uploads?name=a.csv",
        "/api/learning-curves",
    )
    for path in paths:
        answer = client.post(path, headers=headers)
        assert answer.status_code == 403
        assert "other sites" in answer.json()["error"]
    proves("No page of another site changes anything in the dashboard", len(paths), "requests")


def test_our_own_pages_can(client):
    for headers in ({"sec-fetch-site": "same-origin"}, {"origin": "http://127.0.0.1:8765"}, {}):
        assert client.post("/api/predictions", json={}, headers=headers).status_code == 422


def test_read_only_refuses_all_that_computes(visiting, store):
    with visiting(store, read_only=True) as client:
        for method, path in (
            ("POST", "/api/uploads?name=a.csv"),
            ("POST", "/api/predictions"),
            ("POST", "/api/rankings"),
            ("POST", "/api/learning-curves"),
            ("POST", "/api/suggestions"),
            ("POST", f"/api/suggestions/{'0' * 64}/outcome"),
            ("DELETE", f"/api/jobs/{'0' * 32}"),
            ("PUT", "/"),
        ):
            answer = client.request(method, path)
            assert answer.status_code == 403, path
            assert "read-only" in answer.text
        for path in ("totals", "suggestions"):
            assert client.get(f"/api/{path}").status_code == 200
        page = client.get("/").text
        assert "<form" not in page
        assert "--read-only" in page


def test_every_answer_forbids_what_is_from_elsewhere(client):
    for path in ("/", "/api/totals", "/static/base.js", "/nothing", "/api/nothing"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert client.get(path).headers["x-content-type-options"] == "nosniff"
    assert client.get("/api/totals").headers["cache-control"] == "no-store"


def test_errors_are_pages_and_json(client):
    page = client.get("/nothing")
    assert (page.status_code, "There is no such page" in page.text) == (404, True)
    assert client.get("/api/nothing").json() == {"error": "there is no such page"}
    assert client.get("/experiences/xyz").status_code == 422
    wrong = client.get("/api/experiences", params={"n_labels": "many"})
    assert wrong.status_code == 422
    assert wrong.json()["error"].startswith("n_labels 0: ")
    assert client.put("/api/totals").status_code == 405
    hostile = client.get("/experiences/<script>alert(1)</script>")
    assert "<script>alert" not in hostile.text


def test_an_error_that_nobody_expected_is_a_sentence(visiting, store, monkeypatch):
    with visiting(store) as client:
        context = client.app.state.context
        monkeypatch.setattr(context.memo, "get", lambda *_: 1 / 0)
        answer = client.get("/api/totals")
        assert answer.status_code == 500
        assert "Traceback" not in answer.text
        assert "ZeroDivision" not in answer.text
        assert answer.json()["error"].startswith("internal error")


def test_a_full_disk_is_a_sentence(visiting, store, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with visiting(store) as client:
        monkeypatch.setattr("l2t.interfaces.dashboard.uploads.run_in_threadpool", full)
        answer = client.post("/api/uploads?name=a.csv", content=b"a,b\n1,2\n")
        assert (answer.status_code, "disk of the server is full" in answer.text) == (507, True)
        context = client.app.state.context
        assert (context.uploads._in_progress, list(context.uploads._folder.iterdir())) == (0, [])


def test_files_outside_of_the_static_folder_are_not_served(client, proves):
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"):
        assert client.get(path).status_code == 404
    proves("The dashboard serves only its own files", 3, "requests")
