"""API priority and fairness: who waits and who is refused when more is asked than can be worked on (KEP-1040).

`control` classifies a request by the FlowSchemas (`matching`) and lets it in, makes it wait or refuses it by the rules of its
priority level (`levels`, a synchronous core: seats, fair queues, shuffle sharding). `widths` says how many seats a request takes,
`allocation` how levels lend and borrow seats, `following` reads the objects, `debug` shows what is going on.
"""
