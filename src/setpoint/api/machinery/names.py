"""Kubernetes' rules for names, keys and values: each check returns the complaints in Kubernetes' own words, none if all is well.

Source: apimachinery's `util/validation` (limits counted in "characters") and `api/validate/content` (the same limits in "bytes":
label keys and values); the API conventions and RFCs 1035 and 1123 say why. Lengths are bytes of UTF-8 in both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from setpoint.api.machinery.status import FieldError, invalid, too_long

Check = Callable[[str], list[str]]

#: all annotations of an object together, keys and values
ANNOTATIONS_LIMIT = 256 * 1024
MANAGER_LIMIT = 128  # bytes of the name of a field manager
#: a prefix, a slash and a name; a label's value
_LONGEST_KEY, _LONGEST_VALUE = 253 + 1 + 63, 63

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_UNDERSCORE = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_UNDERSCORE = rf"{_LABEL_UNDERSCORE}(\.{_LABEL_UNDERSCORE})*"
_DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

_label = re.compile(_LABEL).fullmatch
_subdomain = re.compile(_SUBDOMAIN).fullmatch
_key = re.compile(_KEY).fullmatch


def length(value: str) -> int:
    """In bytes, which is how Go counts."""
    return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))


def max_characters(limit: int) -> str:
    return f"must be no more than {limit} characters"


def max_bytes(limit: int) -> str:
    return f"must be no more than {limit} bytes"


def inclusive_range(low: int, high: int) -> str:
    return f"must be between {low} and {high}, inclusive"


def regex_complaint(text: str, expression: str, *examples: str) -> str:
    """`text (e.g. 'a',  or 'b', regex used for validation is '…')`, blanks as Kubernetes sets them."""
    if not examples:
        return f"{text} (regex used for validation is '{expression}')"
    listed = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {listed}regex used for validation is '{expression}')"


_LABEL_COMPLAINT = regex_complaint(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
    "alphanumeric character",
    _LABEL,
    "my-name",
    "123-abc",
)
_SUBDOMAIN_COMPLAINT = regex_complaint(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
    "with an alphanumeric character",
    _SUBDOMAIN,
    "example.com",
)
_SUBDOMAIN_UNDERSCORE_COMPLAINT = regex_complaint(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and "
    "end with an alphanumeric character",
    _SUBDOMAIN_UNDERSCORE,
    "example.com",
)
_DNS1035_COMPLAINT = regex_complaint(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end "
    "with an alphanumeric character",
    _DNS1035,
    "my-name",
    "abc-123",
)
_WILDCARD_COMPLAINT = regex_complaint(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case "
    "alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    rf"\*\.{_SUBDOMAIN}",
    "*.example.com",
)
_KEY_COMPLAINT = regex_complaint(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    _KEY,
    "MyName",
    "my.name",
    "123-abc",
)
_VALUE_COMPLAINT = regex_complaint(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
    "an alphanumeric character",
    f"({_KEY})?",
    "MyValue",
    "my_value",
    "12345",
)


def _matched(expression: str, complaint: str, limit: int = 0) -> Check:
    """A check of one length (in characters) and one regular expression."""
    match = re.compile(expression).fullmatch

    def check(value: str) -> list[str]:
        complaints = [max_characters(limit)] if limit and length(value) > limit else []
        return complaints if match(value) else [*complaints, complaint]

    return check


def mask_trailing_dash(value: str) -> str:
    """A generateName as it is checked: the dash that the suffix will follow is allowed at its end."""
    return f"{value[:-2]}a" if len(value) > 1 and value.endswith("-") else value


def dns_label(value: str, *, prefix: bool = False) -> list[str]:
    """RFC 1123 label: names of Namespaces, containers, volumes."""
    if prefix:
        value = mask_trailing_dash(value)
    complaints = [max_characters(63)] if length(value) > 63 else []
    if not _label(value):
        complaints.append("must not contain dots" if _subdomain(value) else _LABEL_COMPLAINT)
    return complaints


def dns_subdomain(value: str, *, prefix: bool = False) -> list[str]:
    """RFC 1123 subdomain: the name of most objects; `prefix` checks a generateName."""
    if prefix:
        value = mask_trailing_dash(value)
    complaints = [max_characters(253)] if length(value) > 253 else []
    if not _subdomain(value):
        complaints.append(_SUBDOMAIN_COMPLAINT)
    return complaints


_dns1035_label = _matched(_DNS1035, _DNS1035_COMPLAINT, 63)


def dns1035_label(value: str, *, prefix: bool = False) -> list[str]:
    """RFC 1035 label: names of Services."""
    return _dns1035_label(mask_trailing_dash(value) if prefix else value)


dns_subdomain_with_underscore = _matched(_SUBDOMAIN_UNDERSCORE, _SUBDOMAIN_UNDERSCORE_COMPLAINT, 253)
wildcard_dns_subdomain = _matched(rf"\*\.{_SUBDOMAIN}", _WILDCARD_COMPLAINT, 253)


def path_segment(value: str, *, prefix: bool = False) -> list[str]:
    """What may stand between two slashes of a URL: names of RBAC objects and custom resource definitions' instances alike."""
    if not prefix and value in (".", ".."):
        return [f"may not be '{value}'"]
    return [f"may not contain '{illegal}'" for illegal in ("/", "%") if illegal in value]


def qualified_name(value: str) -> list[str]:
    """A label key: `[subdomain/]name` (also annotations' keys, finalizers, condition types, taints, resource names)."""
    return [] if len(value) <= _LONGEST_KEY and _is_qualified_name(value) else _not_qualified(value)


@lru_cache(maxsize=4096)  # the same few hundred keys come with every write
def _is_qualified_name(value: str) -> bool:
    return not _not_qualified(value)


def _not_qualified(value: str) -> list[str]:
    parts = value.split("/")
    if len(parts) > 2:
        return [f"a valid label key {_KEY_COMPLAINT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    complaints: list[str] = []
    if len(parts) == 2:
        complaints = _prefix(parts[0])
    name = parts[-1]
    if not name:
        complaints.append("name part must be non-empty")
    elif length(name) > 63:
        complaints.append(f"name part {max_bytes(63)}")
    if not _key(name):
        complaints.append(f"name part {_KEY_COMPLAINT}")
    return complaints


def _prefix(value: str) -> list[str]:
    if not value:
        return ["prefix part must be non-empty"]
    complaints = [f"prefix part {max_bytes(253)}"] if length(value) > 253 else []
    return complaints if _subdomain(value) else [*complaints, f"prefix part {_SUBDOMAIN_COMPLAINT}"]


label_key = qualified_name


def label_value(value: str) -> list[str]:
    return [] if len(value) <= _LONGEST_VALUE and _is_label_value(value) else _no_label_value(value)


@lru_cache(maxsize=4096)
def _is_label_value(value: str) -> bool:
    return not _no_label_value(value)


def _no_label_value(value: str) -> list[str]:
    complaints = [max_bytes(63)] if length(value) > 63 else []
    if value and not _key(value):
        complaints.append(_VALUE_COMPLAINT)
    return complaints


STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})


def standard_finalizer_name(value: str) -> list[str]:
    """A finalizer of the core group (a Namespace's spec): one of the standard ones, or with a domain."""
    complaints = qualified_name(value)
    if "/" not in value and value not in STANDARD_FINALIZERS:
        complaints.append("name is neither a standard finalizer name nor is it fully qualified")
    return complaints


def env_var_name(value: str) -> list[str]:
    """A container's environment variable: any printable ASCII but `=` (relaxed since 1.32)."""
    complaints = [] if value else ["environment variable name must be non-empty"]
    if any(not " " <= letter <= "~" or letter == "=" for letter in value):
        complaints.append("a valid environment variable name must consist only of printable ASCII characters other than '='")
    return complaints


_strict_env_var_name = _matched(
    "[-._a-zA-Z][-._a-zA-Z0-9]*",
    regex_complaint(
        "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start "
        "with a digit",
        "[-._a-zA-Z][-._a-zA-Z0-9]*",
        "my.env-name",
        "MY_ENV.NAME",
        "MyEnvName1",
    ),
)


def strict_env_var_name(value: str) -> list[str]:
    """The older rule, still used for prefixes of `envFrom` where the relaxed one is off."""
    return [*_strict_env_var_name(value), *_no_parent(value)]


def _no_parent(value: str) -> list[str]:
    """Keys become file names, so they must not lead out of their folder."""
    if value in (".", ".."):
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


_config_key = _matched(
    "[-._a-zA-Z0-9]+",
    regex_complaint(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        "[-._a-zA-Z0-9]+",
        "key.name",
        "KEY_NAME",
        "key-name",
    ),
    253,
)


def config_map_key(value: str) -> list[str]:
    """A key of a ConfigMap's or Secret's data."""
    return [*_config_key(value), *_no_parent(value)]


_port_charset = re.compile("[-a-z0-9]+").fullmatch


def port_name(value: str) -> list[str]:
    """A container port's name (RFC 6335)."""
    complaints = [max_characters(15)] if length(value) > 15 else []
    if not _port_charset(value):
        complaints.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", value):
        complaints.append("must contain at least one letter (a-z)")
    if "--" in value:
        complaints.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        complaints.append("must not begin or end with a hyphen")
    return complaints


def port_number(value: int) -> list[str]:
    return in_range(value, 1, 65535)


def in_range(value: int, low: int, high: int) -> list[str]:
    return [] if low <= value <= high else [inclusive_range(low, high)]


def user_id(value: int) -> list[str]:
    """A Unix uid or gid."""
    return in_range(value, 0, 0x7FFFFFFF)


percent = _matched(
    "[0-9]+%",
    regex_complaint("a valid percent string must be a numeric string followed by an ending '%'", "[0-9]+%", "1%", "93%"),
)
http_header_name = _matched(
    "[-A-Za-z0-9]+",
    regex_complaint("a valid HTTP header must consist of alphanumeric characters or '-'", "[-A-Za-z0-9]+", "X-Header-Name"),
)
c_identifier = _matched(
    "[A-Za-z_][A-Za-z0-9_]*",
    regex_complaint(
        "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
        "or '_'",
        "[A-Za-z_][A-Za-z0-9_]*",
        "my_name",
        "MY_NAME",
        "MyName",
    ),
)


def label_errors(labels: Mapping[str, str], field: str) -> list[FieldError]:
    """Every bad key and value of a map of labels, sorted by key; Kubernetes names the map, not the key, as the field."""
    for key, value in labels.items():
        if qualified_name(key) or label_value(value):
            break
    else:
        return []
    errors: list[FieldError] = []
    for key, value in sorted(labels.items()):
        errors.extend(invalid(field, key, complaint) for complaint in qualified_name(key))
        errors.extend(invalid(field, value, complaint) for complaint in label_value(value))
    return errors


def annotation_errors(annotations: Mapping[str, str], field: str) -> list[FieldError]:
    """Bad keys (checked in lower case, as Kubernetes does) and the size of them all."""
    errors = [invalid(field, key, complaint) for key in sorted(annotations) for complaint in qualified_name(key.lower())]
    if annotations_size(annotations) > ANNOTATIONS_LIMIT:
        errors.append(too_long(field, ANNOTATIONS_LIMIT))
    return errors


def manager_errors(manager: str, field: str) -> list[FieldError]:
    """A field manager has at most 128 bytes, all printable; every letter that is not is told, with its place in bytes.

    Each is told with the whole name: of one that is too long only as much is looked at as may be there.
    """
    errors = [too_long(field, MANAGER_LIMIT)] if len(manager) > MANAGER_LIMIT // 4 and length(manager) > MANAGER_LIMIT else []
    if not manager.isprintable():
        place = 0
        for letter in manager[:MANAGER_LIMIT]:
            if not letter.isprintable():
                errors.append(invalid(field, manager, f"invalid character U+{ord(letter):04X} (at position {place})"))
            place += length(letter)
    return errors


def annotations_size(annotations: Mapping[str, str]) -> int:
    """Bytes of all keys and values."""
    return sum(length(key) + length(value) for key, value in annotations.items())
