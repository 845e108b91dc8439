"""Every function, method and operator that expressions may call, with its overloads' types.

A line is `function overload (parameters)result`; a name that starts with a dot is a method, whose first parameter is what stands
before the dot. One capital letter is a type parameter. Sources: the CEL specification's list of standard definitions, cel-go's
`ext` package (version 2 of strings, version 3 of lists, sets, two-variable comprehensions, optional values) and Kubernetes'
`apiserver/pkg/cel/library`.
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from setpoint.api.machinery.cel.types import Type, parse_type, split_types


class Overload(Struct, frozen=True):
    """One way to call a function."""

    id: str
    function: str
    params: tuple[Type, ...]
    result: Type
    method: bool
    #: the names of its type parameters, in order
    generic: tuple[str, ...]


_STANDARD = """
_&&_ logical_and (bool, bool)bool
_||_ logical_or (bool, bool)bool
_?_:_ conditional (bool, A, A)A
!_ logical_not (bool)bool
-_ negate_double (double)double
-_ negate_int64 (int)int
_==_ equals (A, A)bool
_!=_ not_equals (A, A)bool
_+_ add_bytes (bytes, bytes)bytes
_+_ add_double (double, double)double
_+_ add_duration_duration (duration, duration)duration
_+_ add_duration_timestamp (duration, timestamp)timestamp
_+_ add_timestamp_duration (timestamp, duration)timestamp
_+_ add_int64 (int, int)int
_+_ add_list (list(A), list(A))list(A)
_+_ add_string (string, string)string
_+_ add_uint64 (uint, uint)uint
_-_ subtract_double (double, double)double
_-_ subtract_duration_duration (duration, duration)duration
_-_ subtract_int64 (int, int)int
_-_ subtract_timestamp_duration (timestamp, duration)timestamp
_-_ subtract_timestamp_timestamp (timestamp, timestamp)duration
_-_ subtract_uint64 (uint, uint)uint
_*_ multiply_double (double, double)double
_*_ multiply_int64 (int, int)int
_*_ multiply_uint64 (uint, uint)uint
_/_ divide_double (double, double)double
_/_ divide_int64 (int, int)int
_/_ divide_uint64 (uint, uint)uint
_%_ modulo_int64 (int, int)int
_%_ modulo_uint64 (uint, uint)uint
_[_] index_list (list(A), int)A
_[_] index_map (map(A, B), A)B
_[_] optional_list_index_int (optional(list(A)), int)optional(A)
_[_] optional_map_index_value (optional(map(A, B)), A)optional(B)
_[?_] list_optindex_optional_int (list(A), int)optional(A)
_[?_] optional_list_optindex_optional_int (optional(list(A)), int)optional(A)
_[?_] map_optindex_optional_value (map(A, B), A)optional(B)
_[?_] optional_map_optindex_optional_value (optional(map(A, B)), A)optional(B)
@in in_list (A, list(A))bool
@in in_map (A, map(A, B))bool
size size_bytes (bytes)int
size size_list (list(A))int
size size_map (map(A, B))int
size size_string (string)int
.size bytes_size (bytes)int
.size list_size (list(A))int
.size map_size (map(A, B))int
.size string_size (string)int
type type (A)type(A)
dyn to_dyn (A)dyn
bool bool_to_bool (bool)bool
bool string_to_bool (string)bool
bytes bytes_to_bytes (bytes)bytes
bytes string_to_bytes (string)bytes
double double_to_double (double)double
double int64_to_double (int)double
double string_to_double (string)double
double uint64_to_double (uint)double
duration duration_to_duration (duration)duration
duration int64_to_duration (int)duration
duration string_to_duration (string)duration
int int64_to_int64 (int)int
int double_to_int64 (double)int
int duration_to_int64 (duration)int
int string_to_int64 (string)int
int timestamp_to_int64 (timestamp)int
int uint64_to_int64 (uint)int
string string_to_string (string)string
string bool_to_string (bool)string
string bytes_to_string (bytes)string
string double_to_string (double)string
string duration_to_string (duration)string
string int64_to_string (int)string
string timestamp_to_string (timestamp)string
string uint64_to_string (uint)string
timestamp timestamp_to_timestamp (timestamp)timestamp
timestamp int64_to_timestamp (int)timestamp
timestamp string_to_timestamp (string)timestamp
uint uint64_to_uint64 (uint)uint
uint double_to_uint64 (double)uint
uint int64_to_uint64 (int)uint
uint string_to_uint64 (string)uint
matches matches (string, string)bool
.matches matches_string (string, string)bool
.contains contains_string (string, string)bool
.endsWith ends_with_string (string, string)bool
.startsWith starts_with_string (string, string)bool
"""

_ORDERED = """double int64 string bytes bool uint64 timestamp duration
int64_double int64_uint64 uint64_double uint64_int64 double_int64 double_uint64"""

_PARTS_OF_TIME = {
    "getFullYear": "year", "getMonth": "month", "getDayOfYear": "day_of_year", "getDayOfMonth": "day_of_month", "getDate": "day",
    "getDayOfWeek": "day_of_week", "getHours": "hours", "getMinutes": "minutes", "getSeconds": "seconds",
    "getMilliseconds": "milliseconds",
}  # fmt: skip

_EXTENSIONS = """
optional.of optional_of (A)optional(A)
optional.ofNonZeroValue optional_ofNonZeroValue (A)optional(A)
optional.none optional_none ()optional(A)
optional.unwrap optional_unwrap (list(optional(A)))list(A)
.unwrapOpt optional_unwrapOpt (list(optional(A)))list(A)
.value optional_value (optional(A))A
.hasValue optional_hasValue (optional(A))bool
.or optional_or_optional (optional(A), optional(A))optional(A)
.orValue optional_orValue_value (optional(A), A)A
.first list_first (list(A))optional(A)
.last list_last (list(A))optional(A)
.charAt string_char_at_int (string, int)string
.indexOf string_index_of_string (string, string)int
.indexOf string_index_of_string_int (string, string, int)int
.lastIndexOf string_last_index_of_string (string, string)int
.lastIndexOf string_last_index_of_string_int (string, string, int)int
.lowerAscii string_lower_ascii (string)string
.upperAscii string_upper_ascii (string)string
.replace string_replace_string_string (string, string, string)string
.replace string_replace_string_string_int (string, string, string, int)string
.split string_split_string (string, string)list(string)
.split string_split_string_int (string, string, int)list(string)
.substring string_substring_int (string, int)string
.substring string_substring_int_int (string, int, int)string
.trim string_trim (string)string
.join list_join (list(string))string
.join list_join_string (list(string), string)string
.format string_format (string, list(dyn))string
strings.quote strings_quote (string)string
sets.contains list_sets_contains_list (list(A), list(A))bool
sets.equivalent list_sets_equivalent_list (list(A), list(A))bool
sets.intersects list_sets_intersects_list (list(A), list(A))bool
.slice list_slice (list(A), int, int)list(A)
.flatten list_flatten (list(list(A)))list(A)
.flatten list_flatten_int (list(dyn), int)list(dyn)
lists.range lists_range (int)list(int)
.reverse list_reverse (list(A))list(A)
.distinct list_distinct (list(A))list(A)
"""

_KUBERNETES = """
.find string_find_string (string, string)string
.findAll string_find_all_string (string, string)list(string)
.findAll string_find_all_string_int (string, string, int)list(string)
.indexOf list_a_index_of_int (list(A), A)int
.lastIndexOf list_a_last_index_of_int (list(A), A)int
url string_to_url (string)kubernetes.URL
isURL is_url_string (string)bool
.getScheme url_get_scheme (kubernetes.URL)string
.getHost url_get_host (kubernetes.URL)string
.getHostname url_get_hostname (kubernetes.URL)string
.getPort url_get_port (kubernetes.URL)string
.getEscapedPath url_get_escaped_path (kubernetes.URL)string
.getQuery url_get_query (kubernetes.URL)map(string, list(string))
ip string_to_ip (string)net.IP
isIP is_ip (string)bool
ip.isCanonical ip_is_canonical (string)bool
.family ip_family (net.IP)int
.isUnspecified ip_is_unspecified (net.IP)bool
.isLoopback ip_is_loopback (net.IP)bool
.isLinkLocalMulticast ip_is_link_local_multicast (net.IP)bool
.isLinkLocalUnicast ip_is_link_local_unicast (net.IP)bool
.isGlobalUnicast ip_is_global_unicast (net.IP)bool
string ip_to_string (net.IP)string
cidr string_to_cidr (string)net.CIDR
isCIDR is_cidr (string)bool
.containsIP cidr_contains_ip_string (net.CIDR, string)bool
.containsIP cidr_contains_ip_ip (net.CIDR, net.IP)bool
.containsCIDR cidr_contains_cidr_string (net.CIDR, string)bool
.containsCIDR cidr_contains_cidr (net.CIDR, net.CIDR)bool
.ip cidr_ip (net.CIDR)net.IP
.prefixLength cidr_prefix_length (net.CIDR)int
.masked cidr_masked (net.CIDR)net.CIDR
string cidr_to_string (net.CIDR)string
quantity string_to_quantity (string)kubernetes.Quantity
isQuantity is_quantity_string (string)bool
.sign quantity_sign (kubernetes.Quantity)int
.isGreaterThan quantity_is_greater_than (kubernetes.Quantity, kubernetes.Quantity)bool
.isLessThan quantity_is_less_than (kubernetes.Quantity, kubernetes.Quantity)bool
.compareTo quantity_compare_to (kubernetes.Quantity, kubernetes.Quantity)int
.asApproximateFloat quantity_get_float (kubernetes.Quantity)double
.asInteger quantity_get_int (kubernetes.Quantity)int
.isInteger quantity_is_integer (kubernetes.Quantity)bool
.add quantity_add (kubernetes.Quantity, kubernetes.Quantity)kubernetes.Quantity
.add quantity_add_int (kubernetes.Quantity, int)kubernetes.Quantity
.sub quantity_sub (kubernetes.Quantity, kubernetes.Quantity)kubernetes.Quantity
.sub quantity_sub_int (kubernetes.Quantity, int)kubernetes.Quantity
semver string_to_semver (string)kubernetes.Semver
semver string_bool_to_semver (string, bool)kubernetes.Semver
isSemver is_semver_string (string)bool
isSemver is_semver_string_bool (string, bool)bool
.isGreaterThan semver_is_greater_than (kubernetes.Semver, kubernetes.Semver)bool
.isLessThan semver_is_less_than (kubernetes.Semver, kubernetes.Semver)bool
.compareTo semver_compare_to (kubernetes.Semver, kubernetes.Semver)int
.major semver_major (kubernetes.Semver)int
.minor semver_minor (kubernetes.Semver)int
.patch semver_patch (kubernetes.Semver)int
format.named format_named (string)optional(kubernetes.NamedFormat)
.validate format_validate (kubernetes.NamedFormat, string)optional(list(string))
.path authorizer_path (kubernetes.authorization.Authorizer, string)kubernetes.authorization.PathCheck
.group authorizer_group (kubernetes.authorization.Authorizer, string)kubernetes.authorization.GroupCheck
.serviceAccount authorizer_serviceaccount (kubernetes.authorization.Authorizer, string, string)kubernetes.authorization.Authorizer
.resource groupcheck_resource (kubernetes.authorization.GroupCheck, string)kubernetes.authorization.ResourceCheck
.subresource resourcecheck_subresource (kubernetes.authorization.ResourceCheck, string)kubernetes.authorization.ResourceCheck
.namespace resourcecheck_namespace (kubernetes.authorization.ResourceCheck, string)kubernetes.authorization.ResourceCheck
.name resourcecheck_name (kubernetes.authorization.ResourceCheck, string)kubernetes.authorization.ResourceCheck
.fieldSelector authorizer_fieldselector (kubernetes.authorization.ResourceCheck, string)kubernetes.authorization.ResourceCheck
.labelSelector authorizer_labelselector (kubernetes.authorization.ResourceCheck, string)kubernetes.authorization.ResourceCheck
.check pathcheck_check (kubernetes.authorization.PathCheck, string)kubernetes.authorization.Decision
.check resourcecheck_check (kubernetes.authorization.ResourceCheck, string)kubernetes.authorization.Decision
.allowed decision_allowed (kubernetes.authorization.Decision)bool
.reason decision_reason (kubernetes.authorization.Decision)string
.errored decision_errored (kubernetes.authorization.Decision)bool
.error decision_error (kubernetes.authorization.Decision)string
jsonpatch.escapeKey string_jsonpatch_escapeKey_string (string)string
"""

#: Kubernetes declares it where admission policies make patches, nowhere else
ONLY_IN_PATCHES = "jsonpatch.escapeKey"

_generic = re.compile(r"\b[AB]\b")

FORMATS = (
    "dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix",
    "dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue", "uri", "uuid", "byte", "date", "datetime",
)  # fmt: skip


def _generated() -> list[str]:
    """The lines that follow a pattern."""
    lines = []
    for sign, name in (("_<_", "less"), ("_<=_", "less_equals"), ("_>_", "greater"), ("_>=_", "greater_equals")):
        for kinds in _ORDERED.split():
            one, _, other = kinds.replace("64", "").partition("_")
            lines.append(f"{sign} {name}_{kinds} ({one}, {other or one})bool")
    for method, part in _PARTS_OF_TIME.items():
        lines.append(f".{method} timestamp_to_{part} (timestamp)int")
        lines.append(f".{method} timestamp_to_{part}_with_tz (timestamp, string)int")
    lines += [f".{method} duration_to_{_PARTS_OF_TIME[method]} (duration)int" for method in list(_PARTS_OF_TIME)[-4:]]
    for kind in ("int", "uint", "double", "duration"):
        lines.append(f".sum list_{kind}_sum_{kind} (list({kind})){kind}")
    for kind in ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"):
        lines.append(f".isSorted list_{kind}_is_sorted_bool (list({kind}))bool")
        lines += [f".{name} list_{kind}_{name}_{kind} (list({kind})){kind}" for name in ("min", "max")]
        lines.append(f".sort list_{kind}_sort (list({kind}))list({kind})")
        lines.append(f".@sortByAssociatedKeys list_{kind}_sortByAssociatedKeys (list(A), list({kind}))list(A)")
    lines += [f"format.{name} format_{name} ()kubernetes.NamedFormat" for name in FORMATS]
    return lines


def _overload(line: str) -> Overload:
    name, overload, signature = line.split(" ", 2)
    params, result = _split_signature(signature)
    types = tuple(parse_type(part) for part in split_types(params))
    return Overload(
        overload,
        name.lstrip("."),
        types,
        parse_type(result),
        name.startswith("."),
        tuple(dict.fromkeys(_generic.findall(signature))),
    )


def _split_signature(signature: str) -> tuple[str, str]:
    """The text between the outer brackets, and what follows them."""
    depth = 0
    for index, char in enumerate(signature):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return signature[1:index], signature[index + 1 :]
    raise ValueError(signature)


@cache
def functions() -> dict[str, tuple[Overload, ...]]:
    """The overloads of every function, by name."""
    out: dict[str, list[Overload]] = {}
    for block in (_STANDARD, _EXTENSIONS, _KUBERNETES):
        for line in block.strip().splitlines():
            overload = _overload(line)
            out.setdefault(overload.function, []).append(overload)
    for line in _generated():
        overload = _overload(line)
        out.setdefault(overload.function, []).append(overload)
    return {name: tuple(overloads) for name, overloads in out.items()}


@cache
def by_id() -> dict[str, Overload]:
    """Every overload, by its id."""
    return {overload.id: overload for overloads in functions().values() for overload in overloads}
