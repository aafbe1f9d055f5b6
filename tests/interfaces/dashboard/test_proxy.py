"""The dashboard behind a real nginx with TLS, under a path of its own; skipped where there is none."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
from contextlib import contextmanager

import httpx2 as httpx
import pytest

from tools.dashboards import find_chromium, open_chromium, serve_dashboard

pytestmark = pytest.mark.integration

TOKEN = "a-token-for-the-proxy"
CONFIGURATION = """
daemon off; user root; pid {folder}/pid; error_log {folder}/errors;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}; proxy_temp_path {folder};
  fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {folder}/certificate; ssl_certificate_key {folder}/key;
    location /l2t/ {{
      proxy_pass {address};
      proxy_set_header Host {host};
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Proto $scheme;
    }}
  }}
}}
"""


@contextmanager
def nginx(folder, address, host):
    """Serve another server under /l2t/ with TLS, and give the port."""
    command = ["nginx", "-p", folder, "-c", folder / "configuration"]
    with socket.create_server(("127.0.0.1", 0)) as opened:  # which nginx takes over
        port, number = opened.getsockname()[1], opened.fileno()
        text = CONFIGURATION.format(folder=folder, port=port, address=address, host=host)
        (folder / "configuration").write_text(text)
        inherited = {"env": os.environ | {"NGINX": f"{number};"}, "pass_fds": [number]}
        process = subprocess.Popen(command, **inherited)
    with process:
        try:
            yield port
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a certificate for a team's name."""
    for program in ("nginx", "openssl"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} on this machine; install it to test behind a proxy")
    made = tmp_path_factory.mktemp("nginx")
    command = "openssl req -x509 -nodes -newkey rsa:2048 -subj /CN=l2t -keyout key -out certificate"
    subprocess.run(
        [*command.split(), "-addext", "subjectAltName=DNS:localhost"],
        cwd=made,
        check=True,
        capture_output=True,
    )
    return made


@pytest.fixture(scope="module")
def proxied(folder, store_path):
    """The address of a dashboard whose proxy leaves the path as it is."""
    options = ("--root-path", "/l2t", "--allow-host", "team.example", "--token", TOKEN)
    with serve_dashboard(str(store_path), *options) as (_, address):
        assert address.endswith("/l2t/")
        with nginx(folder, address.removesuffix("/l2t/"), "$http_host") as port:
            yield f"https://localhost:{port}/l2t/", address


def visitor(folder, address, **options):
    context = ssl.create_default_context(cafile=folder / "certificate")
    return httpx.Client(base_url=address, verify=context, timeout=300, **options)


def test_entering_leaves_a_secure_cookie_for_the_path(folder, proxied):
    with visitor(folder, proxied[0]) as client:
        assert client.get("").status_code == 401
        entered = client.get("experiences", params={"token": TOKEN})
        assert (entered.status_code, entered.headers["location"]) == (303, "/l2t/experiences")
        for part in ("Secure", "HttpOnly", "SameSite=strict", "Path=/l2t/"):
            assert part in entered.headers["set-cookie"]
        page = client.get("experiences")
        assert page.status_code == 200
        links = set(re.findall(r'(?:href|src)="(/[^"]*)"', page.text))
        assert len(links) > 5
        for link in links:
            assert client.get(f"{proxied[0].removesuffix('/l2t/')}{link}").status_code == 200, link
        assert client.get("api/totals").json()["experiences"] == 84
        slash = client.get("experiences/", follow_redirects=False)
        assert slash.status_code in (307, 404)
        missing = client.get("nothing")
        assert (missing.status_code, 'href="/l2t/"' in missing.text) == (404, True)
        assert client.get("api/nothing").json() == {"error": "there is no such page"}
        assert client.get("static/nothing.js").status_code == 404


def test_only_named_hosts_are_forwarded(folder, proxied, proves):
    bearer = {"authorization": f"Bearer {TOKEN}"}
    with visitor(folder, proxied[0], headers=bearer) as client:
        for host, status in (
            ("team.example", 200),
            ("TEAM.example:8443", 200),
            ("evil.example", 421),
        ):
            answer = client.get("api/totals", headers={"host": host})
            assert answer.status_code == status, host
        ours = {"host": "team.example:8443", "origin": "https://team.example:8443"}
        other = ours | {"origin": "https://evil.example"}
        assert client.post("api/predictions", json={}, headers=ours).status_code == 422
        assert client.post("api/predictions", json={}, headers=other).status_code == 403
    proves("Behind nginx with TLS, under a path, a host that was not named is refused", 3, "hosts")


def test_a_proxy_that_cuts_the_path_off_and_names_itself(folder, proxied):
    bearer = {"authorization": f"Bearer {TOKEN}"}
    with (
        nginx(folder, proxied[1].removesuffix("l2t/"), "$proxy_host") as port,
        visitor(folder, f"https://localhost:{port}/l2t/", headers=bearer) as client,
    ):
        page = client.get("")
        assert (page.status_code, 'src="/l2t/static/' in page.text) == (200, True)
        assert client.get("static/base.js").status_code == 200
        assert client.get("api/totals", headers={"host": "evil.example"}).status_code == 421
        ours = {"origin": f"https://localhost:{port}"}
        assert client.post("api/predictions", json={}, headers=ours).status_code == 422


@pytest.mark.browser
def test_in_a_browser_every_request_stays_under_the_path(proxied):
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium on this machine; install it to test the dashboard in a browser")
    asked, trouble = [], []
    with open_chromium(found) as browser:
        page = browser.new_page(ignore_https_errors=True)
        page.set_default_timeout(300_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda m: trouble.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(f"{proxied[0]}experiences?token={TOKEN}")
        page.locator("tbody a").first.click()
        page.wait_for_url(re.compile(r"/l2t/experiences/[0-9a-f]{64}$"))
        page.wait_for_load_state("networkidle")
    assert trouble == []
    assert len(asked) > 5
    assert all(url.startswith((proxied[0], "data:", "blob:")) for url in asked)
