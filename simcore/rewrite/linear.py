"""Matrix products: Einsum as MatMul, Gemm without the attributes that devices lack."""

import math
from typing import Final

from simcore.rewrite.rule import ROUNDING, Declined, Rule, Site

__all__ = ["RULES", "gemm_misfit"]


def gemm_misfit(site: Site) -> str | None:
    """Return what a plain Gemm, A B + C with B as it is or transposed, does not have; None for a plain one."""
    if site.attribute("transA", 0):
        return "transA is set"
    return next((f"{name} is not 1" for name in ("alpha", "beta") if site.attribute(name, 1.0) != 1), None)


def _gemm(site: Site) -> str:
    """Return Gemm with A turned before, alpha and beta in the constants, or multiplied where nothing is constant."""
    a, b, c = site.input(0), site.input(1), site.input(2)
    if not gemm_misfit(site):
        raise Declined("it is a plain one")
    if site.attribute("transA", 0):
        a = site.transpose(a, 1, 0)
    alpha = site.attribute("alpha", 1.0)
    # A constant product is folded in the next round.
    if site.value(b) is not None:
        b = site.scaled(b, alpha)
    else:
        a = site.scaled(a, alpha)
    if c:
        c = site.scaled(c, site.attribute("beta", 1.0))
    return site.op("Gemm", a, b, c, transB=site.attribute("transB", 0))


def _einsum(site: Site) -> str:
    """Return one or two operands summed over labels: Transpose and Reshape to matrices, MatMul, and back.

    Each operand becomes [batch, own, summed] or [batch, summed, own]: batch are the labels of both that the result has.
    """
    left, arrow, out = str(site.attribute("equation", "")).replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow:
        out = "".join(sorted(label for label in set(left) - {","} if left.count(label) == 1))
    if "." in left or any(len(set(term)) != len(term) for term in (*terms, out)) or len(terms) > 2:
        raise Declined("the equation has an ellipsis, a label twice in one term, or more than two operands")
    if any(len(term) != site.rank(name) for term, name in zip(terms, site.node.inputs, strict=True)):
        raise Declined("the equation does not have a label for each axis")
    if len(terms) == 1:
        return _summed(site, site.input(0), terms[0], out)
    a, b = (
        _summed(site, site.input(i), terms[i], "".join(x for x in terms[i] if x in out or x in terms[1 - i]), True)
        for i in (0, 1)
    )
    kept = ["".join(x for x in term if x in out or x in other) for term, other in (terms, terms[::-1])]
    sizes = {label: site.size(site.input(i), terms[i].index(label)) for i in (0, 1) for label in terms[i]}
    both = [x for x in kept[0] if x in kept[1]]
    batch, inner = [x for x in both if x in out], [x for x in both if x not in out]
    own = [[x for x in term if x not in both] for term in kept]

    def matrix(name: str, term: str, groups: list[list[str]]) -> str:
        order = [*batch, *groups[0], *groups[1]]
        turned = site.transpose(name, *(term.index(x) for x in order))
        return site.reshape(turned, *(sizes[x] for x in batch), *(math.prod(sizes[x] for x in g) for g in groups))

    product = site.op("MatMul", matrix(a, kept[0], [own[0], inner]), matrix(b, kept[1], [inner, own[1]]))
    labels = [*batch, *own[0], *own[1]]
    whole = site.reshape(product, *(sizes[x] for x in labels))
    return site.transpose(whole, *(labels.index(x) for x in out))


def _summed(site: Site, x: str, labels: str, kept: str, same_order: bool = False) -> str:
    """Return x summed over the labels that are not kept, the others in the order of `kept`."""
    gone = [i for i, label in enumerate(labels) if label not in kept]
    rest = [label for label in labels if label in kept]
    if gone:
        x = site.reduce("ReduceSum", x, gone, keepdims=0)
    return x if same_order else site.transpose(x, *(rest.index(label) for label in kept))


RULES: Final = (
    Rule(
        ("Gemm",),
        "plain",
        "Gemm(Transpose(A), alpha B, beta C)",
        "transA set, or alpha or beta not 1",
        ROUNDING,
        "definition",
        _gemm,
    ),
    Rule(
        ("Einsum",),
        "matmul",
        "Transpose, Reshape, MatMul, Reshape, Transpose; ReduceSum for labels of one operand",
        "one or two operands, no ellipsis, no label twice in a term; two operands: known sizes",
        ROUNDING,
        "a sum over common labels is a matrix product",
        _einsum,
    ),
)
