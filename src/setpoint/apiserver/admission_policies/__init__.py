"""ValidatingAdmissionPolicy and MutatingAdmissionPolicy at work.

`following` reads policies and bindings and keeps them as compiled `definitions`; `matching` tells what they are about, `params`
what they are given; `evaluating` runs their expressions over a write and charges them, `asking` lets those ask the authoriser.
`validating` and `mutating` are the two admission steps, `patching` what mutations make of an object.
Without a policy that could be about a write, that write costs nothing more.

Source: apiserver `pkg/admission/plugin/policy`, `pkg/admission/plugin/cel`.
"""
