"""Models rewritten for a device: what it lacks said with the operators it has, and the proof that it is the same.

Read in this order:

    rule                what a rule is, and the site it works at
    arithmetic, activation, linear, normalization, pool, shape, recurrent
                        the rules by family: plain functions, each with condition and exactness
    table               all rules in order of preference; the way out for operators no rule knows
    fold                what is simpler on every device: constants, branches, identities, folded scales
    opset               nodes in the form of an older operator set
    learn               what is known of tensors, open sizes included
    run                 rewrite(graph, device, options) -> Rewritten
    prove               original and result run on the same inputs, difference by output
"""
