"""Matrix products: MatMul, Gemm, Einsum. Convolution is in `convolution`, transposed convolution in `conv_transpose`.

Operators by (name, first opset version served):

    einsum Einsum 12 · gemm Gemm 7 · matmul MatMul 1

Products of float32 accumulate in float32 in the order of the BLAS library, float16 in float32, integers wrap.
"""

import numpy as np

from simcore.errors import BadArgument
from simcore.ops.widen import Array, float32_inside


@float32_inside
def matmul(a: Array, b: Array) -> Array:
    """Return the matrix product `a @ b`, as numpy.matmul: leading axes broadcast, vectors get an axis for the product.

    Args:
        a: [..., m, k] or [k].
        b: [..., k, n] or [k].

    Raises:
        BadArgument: the shapes do not fit.
    """
    try:
        if b.ndim == 2 and a.ndim > 2 and a.flags.c_contiguous and a.shape[-1]:
            # One product of many rows instead of a batch of small ones.
            return np.asarray(np.matmul(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1]))
        return np.asarray(np.matmul(a, b))
    except ValueError:
        raise BadArgument(
            f"MatMul: shapes {list(a.shape)} and {list(b.shape)} do not fit; the last axis of the first must equal "
            "the second to last of the second, and leading axes must broadcast"
        ) from None


@float32_inside
def gemm(
    a: Array,
    b: Array,
    c: Array | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,  # noqa: N803 - the ONNX attribute
    transB: int = 0,  # noqa: N803 - the ONNX attribute
) -> Array:
    """Return `alpha * a' @ b' + beta * c`, a' and b' transposed if asked for.

    Args:
        a: [m, k], with transA [k, m].
        b: [k, n], with transB [n, k].
        c: broadcasts to [m, n]; None for 0.
        alpha: factor of the product; integers take its whole part.
        beta: factor of c.
        transA: 1 to transpose a.
        transB: 1 to transpose b.

    Raises:
        BadArgument: the shapes do not fit.
    """
    left, right = a.T if transA else a, b.T if transB else b
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        raise BadArgument(
            f"Gemm: shapes {list(a.shape)} (transA={transA}) and {list(b.shape)} (transB={transB}) do not fit; "
            "both must be matrices with a common inner size"
        )
    y = np.matmul(left, right)
    if alpha != 1:
        y *= y.dtype.type(alpha)
    if c is not None:
        try:
            y += c if beta == 1 else c * c.dtype.type(beta)
        except ValueError:
            raise BadArgument(f"Gemm: C of shape {list(c.shape)} does not broadcast to {list(y.shape)}") from None
    return np.asarray(y)


@float32_inside
def _einsum(*inputs: Array, equation: str) -> Array:
    return np.asarray(np.einsum(equation, *inputs, optimize="greedy" if len(inputs) > 1 else False))


def einsum(*inputs: Array, equation: str) -> Array:
    """Return the sum of products that `equation` describes, such as `"bij,bjk->bik"`.

    Letters may be of both cases, `...` stands for broadcast axes, without `->` the letters that occur once are the
    result in alphabetical order.

    Raises:
        BadArgument: the equation is malformed or does not fit the shapes.
    """
    try:
        result = _einsum(*inputs, equation=equation)
    except (ValueError, TypeError) as wrong:
        raise BadArgument(
            f"Einsum: equation {equation!r} with shapes {[list(x.shape) for x in inputs]}: {wrong}"
        ) from None
    return result.astype(inputs[0].dtype, copy=True) if result.base is not None else result
