from __future__ import annotations

import pytest

from setpoint.api.machinery import names


@pytest.mark.parametrize(
    ("check", "good"),
    [
        (names.dns_label, ["a", "a-1", "0"]),
        (names.dns_subdomain, ["a", "a.b-c", "1.2"]),
        (names.dns1035_label, ["a", "a-1"]),
        (names.qualified_name, ["a", "A_b.c", "example.com/Name"]),
        (names.label_value, ["", "A", "a_b.c-d", "a" * 63]),
        (names.env_var_name, ["A", "1A", "a b", "a-b.c"]),
        (names.config_map_key, ["a", "..a"[1:], "KEY_x-y.z"]),
        (names.port_name, ["http", "a-1"]),
        (names.percent, ["1%", "100%"]),
        (names.path_segment, ["system:node", "a b"]),
    ],
)
def test_good_names_have_no_complaint(check: names.Check, good: list[str]) -> None:
    assert [name for name in good if check(name)] == []


def test_complaints_are_kubernetes_own() -> None:
    assert names.dns_label("a.b") == ["must not contain dots"]
    assert names.dns_label("A")[0].startswith(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'"
    )
    assert names.dns_label("A")[0].endswith(
        "(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
    )
    assert names.dns_label("a" * 64) == ["must be no more than 63 characters"]
    assert names.label_value("a" * 64) == ["must be no more than 63 bytes"]
    assert names.qualified_name("")[0] == "name part must be non-empty"
    assert len(names.qualified_name("")) == 2
    assert names.qualified_name("/a") == ["prefix part must be non-empty"]
    assert names.qualified_name("a/b/c")[0].endswith("with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")
    assert names.port_name("-") == ["must contain at least one letter (a-z)", "must not begin or end with a hyphen"]
    assert names.config_map_key("..") == ["must not be '..'"]
    assert names.config_map_key("..a") == ["must not start with '..'"]
    assert names.path_segment("a/b%") == ["may not contain '/'", "may not contain '%'"]


def test_a_newline_at_the_end_is_no_part_of_a_name() -> None:
    assert names.dns_label("a\n")
    assert names.label_value("a\n")
    assert names.env_var_name("a\n")


def test_a_prefix_may_end_with_a_dash() -> None:
    assert names.dns_subdomain("a-", prefix=True) == []
    assert names.dns_subdomain("a-") != []
    assert names.dns_subdomain("-", prefix=True) != []


def test_labels_and_annotations_name_the_map_as_the_field() -> None:
    errors = names.label_errors({"a b": "c d"}, "metadata.labels")
    assert [error.field for error in errors] == ["metadata.labels", "metadata.labels"]
    assert names.annotation_errors({"Bad Key": ""}, "metadata.annotations")[0].value == "Bad Key"
    assert names.annotation_errors({"UPPER.example.com/Key": ""}, "f") == []
    too_big = names.annotation_errors({"a": "x" * names.ANNOTATIONS_LIMIT}, "metadata.annotations")
    assert str(too_big[0]) == "metadata.annotations: Too long: may not be more than 262144 bytes"


def test_of_a_manager_that_is_too_long_few_letters_are_told() -> None:
    assert [error.detail[-15:] for error in names.manager_errors("é\a", "f")] == ["(at position 2)"]
    assert len(names.manager_errors("\a" * 100_000, "f")) == 1 + names.MANAGER_LIMIT
