"""The part of Go's text/template that the status templates of Stages are written in.

Actions: pipelines, variables (`$x := …`, `$x = …`), `if`/`else if`/`else`, `range` with one or two variables, `break` and
`continue`, `with`, `define` and `template`, comments, trimming (`{{-`, `-}}`). Values are plain JSON; a member that is not there
is nothing (as with `missingkey=zero`), and nothing is written as an empty text. Whatever else a template uses is refused when it
is read, not when a pod gets there.

`lexing` cuts, `reading` understands blocks and `values` what stands in them, `running` is what they become, `functions` what they
call.
"""

from setpoint.node.simulated.go_template.functions import to_text
from setpoint.node.simulated.go_template.lexing import TemplateError
from setpoint.node.simulated.go_template.reading import Template

__all__ = ["Template", "TemplateError", "to_text"]
