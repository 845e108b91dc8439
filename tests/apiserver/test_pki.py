from __future__ import annotations

import os
import ssl
import stat
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from setpoint.apiserver.authentication.signing_key import SigningKey
from setpoint.apiserver.pki import CLIENT, SERVER, Authority, Subject, write_private


def test_the_authority_is_made_once_and_kept(tmp_path: Path) -> None:
    first = Authority(tmp_path / "pki").pem
    assert Authority(tmp_path / "pki").pem == first


def test_private_keys_are_private(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    authority.issue("apiserver", Subject("kube-apiserver", addresses=("localhost",), usages=(SERVER,)))
    assert SigningKey(tmp_path / "pki").id
    assert stat.S_IMODE((tmp_path / "pki").stat().st_mode) == 0o700
    for key in (tmp_path / "pki").glob("*.key"):
        assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_a_certificate_is_kept_while_it_fits_and_replaced_when_an_address_is_added(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    one = Subject("kube-apiserver", addresses=("localhost", "127.0.0.1"), usages=(SERVER,))
    first = authority.issue("apiserver", one).certificate.read_bytes()
    assert authority.issue("apiserver", one).certificate.read_bytes() == first
    two = Subject("kube-apiserver", addresses=("localhost", "127.0.0.1", "10.96.0.1"), usages=(SERVER,))
    assert authority.issue("apiserver", two).certificate.read_bytes() != first


def test_a_certificate_that_is_about_to_expire_or_of_another_authority_is_replaced(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "a")
    subject = Subject("admin", groups=("system:masters",))
    pair = authority.issue("admin", subject)
    pair.certificate.write_bytes(authority.sign(subject, 3 * 86_400)[0])
    short = pair.certificate.read_bytes()
    assert authority.issue("admin", subject).certificate.read_bytes() != short
    pair.certificate.write_bytes(Authority(tmp_path / "b").sign(subject)[0])
    foreign = pair.certificate.read_bytes()
    assert authority.issue("admin", subject).certificate.read_bytes() != foreign


def test_names_groups_addresses_and_usages_are_in_the_certificate(tmp_path: Path) -> None:
    pem, _ = Authority(tmp_path).sign(Subject("system:node:n1", ("system:nodes",), ("127.0.0.1", "n1"), (SERVER, CLIENT)))
    certificate = x509.load_pem_x509_certificate(pem)
    assert certificate.subject.rfc4514_string() == "CN=system:node:n1,O=system:nodes"
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {str(name.value) for name in names} == {"127.0.0.1", "n1"}
    usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert set(usages) == {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH}


def test_openssl_accepts_the_chain(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    server = authority.issue("apiserver", Subject("kube-apiserver", addresses=("localhost",), usages=(SERVER,)))
    stranger = Authority(tmp_path / "other")
    assert _handshake(server.certificate, server.key, authority.certificate_file)
    with pytest.raises(ssl.SSLCertVerificationError):
        _handshake(server.certificate, server.key, stranger.certificate_file)


def _handshake(certificate: Path, key: Path, ca: Path) -> bool:
    ours, theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=str(ca))
    ours.load_cert_chain(certificate, key)
    a_in, a_out, b_in, b_out = (ssl.MemoryBIO() for _ in range(4))
    server = ours.wrap_bio(a_in, a_out, server_side=True)
    client = theirs.wrap_bio(b_in, b_out, server_hostname="localhost")
    done = set()
    for _ in range(10):
        for name, side, out, into in (("client", client, b_out, a_in), ("server", server, a_out, b_in)):
            try:
                side.do_handshake()
                done.add(name)
            except ssl.SSLWantReadError:
                pass
            into.write(out.read())
    return done == {"client", "server"}


def test_a_file_put_in_the_way_gets_no_secret(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    (tmp_path / f".config.{os.getpid()}").symlink_to(trap)
    write_private(tmp_path / "config", b"secret")
    assert not trap.exists()
    assert (tmp_path / "config").read_bytes() == b"secret"
    assert stat.S_IMODE((tmp_path / "config").stat().st_mode) == 0o600
