from __future__ import annotations

import pytest

from setpoint.node.simulated.go_template import Template, TemplateError

POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b"}]}}
FUNCTIONS = {"Quote": lambda value: f'"{value}"'}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ .metadata.name }}", "p"),
        ("{{ .metadata.labels.app }}", ""),
        ("{{ .metadata.name | Quote }}", '"p"'),
        ("a {{- .metadata.name -}} b", "apb"),
        ("{{/* nothing */}}x", "x"),
        ("{{ $n := .metadata.name }}{{ $n }}{{ $n = `q` }}{{ $n }}", "pq"),
        ("{{ range .spec.containers }}{{ .name }}={{ .image }};{{ end }}", "a=x;b=;"),
        ("{{ range $i, $c := .spec.containers }}{{ $i }}{{ $c.name }}{{ $.metadata.name }}{{ end }}", "0ap1bp"),
        ("{{ range .spec.initContainers }}x{{ else }}none{{ end }}", "none"),
        ("{{ range .spec.containers }}{{ if eq .name `b` }}{{ break }}{{ end }}{{ .name }}{{ end }}", "a"),
        ("{{ range .spec.containers }}{{ if eq .name `a` }}{{ continue }}{{ end }}{{ .name }}{{ end }}", "b"),
        ("{{ if .x }}1{{ else if .metadata }}2{{ else }}3{{ end }}", "2"),
        ("{{ with .metadata }}{{ .name }}{{ end }}", "p"),
        ("{{ with $m := .metadata }}{{ $m.name }}{{ end }}", "p"),
        ("{{ (index .spec.containers 1).name }}", "b"),
        ("{{ index .spec.containers 5 }}", ""),
        ("{{ or .x ( and .metadata 7 ) }} {{ not .x }}", "7 true"),
        ("{{ $found := 0 }}{{ range .spec.containers }}{{ $found = 1 }}{{ end }}{{ $found }}", "1"),
        ('{{ define "c" }}[{{ .k }}]{{ end }}{{ template "c" dict "k" 3 }}', "[3]"),
        ('{{ printf "%s-%d" .metadata.name 3 }}', "p-3"),
    ],
)
def test_renders_as_go_does(text: str, expected: str) -> None:
    assert Template(text, FUNCTIONS).render(POD) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ fetch .x }}", "the function fetch is not supported"),
        ("{{ $x }}", "undefined variable $x"),
        ("{{ if .x }}", "{{end}} is missing"),
        ("{{ end }}", "unexpected {{end}}"),
        ("{{ range .x }}{{ else range }}{{ end }}", "else range is not supported"),
        ("{{ (or .x }}", "closing bracket"),
    ],
)
def test_what_is_not_supported_is_refused_when_it_is_read(text: str, message: str) -> None:
    with pytest.raises(TemplateError) as refused:
        Template(text, FUNCTIONS)
    assert message in str(refused.value)
