"""C++ kernels for operations that PyTorch computes slowly on a CPU.

For training: `winograd.cpp` computes y = residual + conv(relu(x + bias)) with 3×3 weights. `learning.cpp` has the
operations of transformers other than matrix products, in f32. `attention.cpp` has attention with products in bf16. For
a teacher in bf16: `transformer.cpp`.

The kernels are compiled for this processor at first use, which takes seconds, and are kept in the user's cache. Without
a C++ compiler, on a GPU, or with `KOSUMI_TRAIN_PLAIN=1`, PyTorch does the same computations.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F


def _library(name: str) -> Any:
    """Returns the library of a C++ file, compiled if it is not cached. Returns `None` if it cannot be compiled, or with
    `KOSUMI_TRAIN_PLAIN`."""
    source = Path(__file__).parent / "native" / f"{name}.cpp"
    if os.environ.get("KOSUMI_TRAIN_PLAIN"):
        return None
    compiler = [os.environ.get("CXX", "g++"), "-O3", "-march=native", "-ffast-math", "-std=c++17", "-fopenmp", "-fPIC"]
    try:
        cpu = re.search(r"^flags.*", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        cpu = None
    headers = b"".join(header.read_bytes() for header in sorted(source.parent.glob("*.h")))
    flags = " ".join([*compiler, cpu[0] if cpu else ""])
    key = hashlib.sha256(source.read_bytes() + headers + flags.encode()).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kosumi-train"
    path = folder / f"{name}-{key}.so"
    try:
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.{os.getpid()}")
            subprocess.run([*compiler, "-shared", "-o", part, source], check=True, capture_output=True, text=True)
            os.replace(part, path)
        return ctypes.CDLL(str(path))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{name}.cpp was not compiled: {getattr(error, 'stderr', None) or error}", file=sys.stderr)
        return None


_winograd = _library("winograd")
# Whether products round their factors to bf16; see `use_pairs`.
_pairs = False
_transformer = _library("transformer")
if _transformer is not None and not _transformer.transformer_available():
    _transformer = None
_learning = _library("learning")
_attention = _library("attention")
if _attention is not None and not _attention.attention_available():
    _attention = None


def _pointer(tensor: torch.Tensor | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if tensor is None else tensor.data_ptr())


def _sizes(*numbers: int) -> list[ctypes.c_int64]:
    return [ctypes.c_int64(number) for number in numbers]


class _Convolution(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, x: Any, bias: Any, weights: Any, residual: Any) -> Any:
        images, inputs, rows, columns = x.shape
        outputs = weights.shape[0]
        x, weights = _by_points(x), weights.contiguous()
        context.pairs = int(_pairs and inputs % 16 == 0 and outputs % 16 == 0)
        y = torch.empty((images, outputs, rows, columns), memory_format=torch.channels_last)
        if residual is not None:
            residual = residual.contiguous(memory_format=torch.channels_last)
        bias_step = inputs if bias is not None and bias.shape[0] == images and images > 1 else 0
        _winograd.winograd_forward(
            *_sizes(context.pairs, images, rows, columns, inputs, outputs),
            _pointer(x), *_sizes(x.stride(3)), _pointer(bias), *_sizes(bias_step), _pointer(weights),
            _pointer(residual), _pointer(y),
        )  # fmt: skip
        context.save_for_backward(x, bias, weights)
        context.bias_step = bias_step
        context.has_residual = residual is not None
        return y

    @staticmethod
    def backward(context: Any, dy: Any) -> Any:
        x, bias, weights = context.saved_tensors
        images, inputs, rows, columns = x.shape
        outputs = weights.shape[0]
        gradient = dy.contiguous(memory_format=torch.channels_last)
        dx = dbias = None
        if context.needs_input_grad[0]:
            dx = torch.empty((images, inputs, rows, columns), memory_format=torch.channels_last)
            dbias = torch.zeros(images, inputs)
        dweights = torch.empty_like(weights)
        _winograd.winograd_backward(
            *_sizes(context.pairs, images, rows, columns, inputs, outputs),
            _pointer(x), *_sizes(x.stride(3)), _pointer(bias), *_sizes(context.bias_step), _pointer(weights),
            _pointer(gradient), _pointer(dx), _pointer(dbias), _pointer(dweights),
        )  # fmt: skip
        if bias is None or dbias is None:
            dbias = None
        elif not context.bias_step:
            dbias = dbias.sum(dim=0, keepdim=True)
        return dx, dbias, dweights, dy if context.has_residual else None


def _by_points(x: torch.Tensor) -> torch.Tensor:
    """Returns `x` with the channels of a point adjacent and a constant step between points. Does not copy `x` if it
    already has this order."""
    _, _, rows, columns = x.shape
    step = x.stride(3)
    if x.stride(1) == 1 and x.stride(2) == step * columns and x.stride(0) == step * columns * rows:
        return x
    return x.contiguous(memory_format=torch.channels_last)


def is_fast(x: torch.Tensor, weight: torch.Tensor) -> bool:
    """Returns whether `winograd.cpp` supports these operands."""
    return (
        _winograd is not None
        and x.device.type == "cpu"
        and x.dtype == torch.float32
        and not torch.is_autocast_enabled("cpu")
        and weight.shape[2:] == (3, 3)
        and weight.shape[0] % 8 == 0
        and weight.shape[1] % 8 == 0
    )


def has_pairs() -> bool:
    """Returns whether the processor can multiply pairs of bf16 numbers, and a library that does so is loaded."""
    return _winograd is not None and bool(_winograd.winograd_has_pairs())


def use_pairs(wanted: bool) -> None:
    """Switches rounding to bf16 in products on or off.

    This affects convolutions (in Winograd's space), and the products and attention of transformers. The error is 1.5 %
    of a convolution's output and 2.5 % of its gradient, which is small beside the noise of a step. Other matrix
    products are left to oneDNN, which may round as well. On AMD processors, oneDNN does not round, but it uses AVX-512,
    which MKL uses on Intel processors only.
    """
    global _pairs
    _pairs = wanted and has_pairs()
    if has_pairs():
        torch.backends.mkldnn.matmul.fp32_precision = "bf16" if _pairs else "ieee"


def convolution(
    x: torch.Tensor,
    bias: torch.Tensor | None,
    weight: torch.Tensor,
    residual: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Returns residual + conv(relu(x + bias)), or residual + conv(x) without a bias.

    The bias is (1, channels) for all images, or (images, channels). A mask (see `model.py`) is multiplied with the
    convolution's input.
    """
    if mask is None and is_fast(x, weight):
        return _Convolution.apply(x, bias, weight, residual)
    if bias is not None:
        x = F.relu(x + bias.to(x.dtype)[:, :, None, None], inplace=True)
    if mask is not None:
        x = x * mask
    y = F.conv2d(x, weight, padding=weight.shape[2] // 2)
    return y if residual is None else y + residual


def is_fast_learning(*tensors: torch.Tensor) -> bool:
    """Returns whether `learning.cpp` supports these tensors."""
    return (
        _learning is not None
        and all(t.dtype == torch.float32 and t.device.type == "cpu" for t in tensors)
        and not torch.is_autocast_enabled("cpu")
    )


class _Norm(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, x: Any, scale: Any, epsilon: Any) -> Any:
        x = x.contiguous()
        width = x.shape[-1]
        rows = x.numel() // width
        y, inverse = torch.empty_like(x), torch.empty(rows)
        _learning.norm_forward(
            *_sizes(rows, width), ctypes.c_float(epsilon), _pointer(x), _pointer(scale), _pointer(y), _pointer(inverse)
        )
        context.save_for_backward(x, scale, inverse)
        return y

    @staticmethod
    def backward(context: Any, dy: Any) -> Any:
        x, scale, inverse = context.saved_tensors
        dy, dx, dscale = dy.contiguous(), torch.empty_like(x), torch.zeros_like(scale)
        sizes = _sizes(len(inverse), x.shape[-1])
        _learning.norm_backward(*sizes, *map(_pointer, (x, scale, inverse, dy, dx, dscale)))
        return dx, dscale, None


class _Gated(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, both: Any) -> Any:
        both = both.contiguous()
        width = both.shape[-1] // 2
        y = torch.empty(*both.shape[:-1], width)
        _learning.gate_forward(*_sizes(y.numel() // width, width), _pointer(both), _pointer(y))
        context.save_for_backward(both)
        return y

    @staticmethod
    def backward(context: Any, dy: Any) -> Any:
        (both,) = context.saved_tensors
        dy, dboth = dy.contiguous(), torch.empty_like(both)
        width = dy.shape[-1]
        _learning.gate_backward(*_sizes(dy.numel() // width, width), _pointer(both), _pointer(dy), _pointer(dboth))
        return dboth


class _Turned(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, qkv: Any, angle: Any) -> Any:
        qkv = qkv.contiguous()
        cosine, sine = angle.cos().contiguous(), angle.sin().contiguous()
        images, points = qkv.shape[:2]
        heads, width = angle.shape[1], 2 * angle.shape[2]
        q, k, v = (torch.empty(images, points, heads, width) for _ in range(3))
        context.sizes = _sizes(images, points, heads, width)
        _learning.turn_forward(*context.sizes, *map(_pointer, (qkv, cosine, sine, q, k, v)))
        context.save_for_backward(q, k, cosine, sine)
        return q, k, v

    @staticmethod
    def backward(context: Any, dq: Any, dk: Any, dv: Any) -> Any:
        q, k, cosine, sine = context.saved_tensors
        dq, dk, dv = (part.contiguous() for part in (dq, dk, dv))
        dqkv, dangle = q.new_empty(*q.shape[:2], 3 * q.shape[2] * q.shape[3]), torch.empty_like(cosine)
        _learning.turn_backward(*context.sizes, *map(_pointer, (q, k, cosine, sine, dq, dk, dv, dqkv, dangle)))
        return dqkv, dangle


def _attention_function(direction: str) -> Any:
    """Returns the function of `attention.cpp` or `learning.cpp` for a direction, "forward" or "backward"."""
    if _pairs and _attention is not None:
        return getattr(_attention, f"attention_pairs_{direction}")
    return getattr(_learning, f"attention_{direction}")


class _Attended(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, q: Any, k: Any, v: Any) -> Any:
        images, points, heads, _ = q.shape
        out, sizes = torch.empty_like(q), torch.empty(images, heads, points)
        context.sizes = _sizes(images, points, heads)
        _attention_function("forward")(*context.sizes, *map(_pointer, (q, k, v, out, sizes)))
        context.save_for_backward(q, k, v, out, sizes)
        return out

    @staticmethod
    def backward(context: Any, dout: Any) -> Any:
        q, k, v, out, sizes = context.saved_tensors
        found = tuple(torch.empty_like(q) for _ in range(3))
        _attention_function("backward")(
            *context.sizes, *map(_pointer, (q, k, v, out, sizes, dout.contiguous(), *found))
        )
        return found


class _Product(torch.autograd.Function):
    """x · weightᵀ, with factors and gradients rounded to bf16, sums in f32, and results rounded to bf16.

    On AMD processors, no library rounds them by itself (see `use_pairs`).
    """

    @staticmethod
    def forward(context: Any, x: Any, weight: Any) -> Any:
        x, weight = x.bfloat16(), weight.bfloat16()
        context.save_for_backward(x, weight)
        return (x @ weight.mT).float()

    @staticmethod
    def backward(context: Any, dy: Any) -> Any:
        x, weight = context.saved_tensors
        dy = dy.bfloat16()
        dx = (dy @ weight).float() if context.needs_input_grad[0] else None
        return dx, (dy.mT @ x).float() if context.needs_input_grad[1] else None


def product(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Returns `x` (…, inputs) times the transpose of `weight` (outputs, inputs): (…, outputs)."""
    if _pairs and is_fast_learning(x) and x.numel() // x.shape[-1] >= 64:
        return _Product.apply(x.reshape(-1, x.shape[-1]), weight).view(*x.shape[:-1], len(weight))
    return F.linear(x, weight)


class _Smooth(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, x: Any, scale: Any, bias: Any) -> Any:
        x = x.contiguous()
        y = torch.empty_like(x)
        _learning.smooth_forward(*_sizes(x.numel() // x.shape[-1], x.shape[-1]), *map(_pointer, (x, scale, bias, y)))
        context.save_for_backward(x, scale, bias)
        return y

    @staticmethod
    def backward(context: Any, dy: Any) -> Any:
        x, scale, bias = context.saved_tensors
        dy, dx = dy.contiguous(), torch.empty_like(x)
        dscale, dbias = torch.zeros_like(scale), torch.zeros_like(bias)
        sizes = _sizes(x.numel() // x.shape[-1], x.shape[-1])
        _learning.smooth_backward(*sizes, *map(_pointer, (x, scale, bias, dy, dx, dscale, dbias)))
        return dx, dscale, dbias


def learning_smooth(x: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Returns silu(x · scale + bias), with a scale and a bias for each channel of `x` (…, channels)."""
    return _Smooth.apply(x, scale, bias)


def is_fast_attention(q: torch.Tensor) -> bool:
    """Returns whether `learning.cpp` supports attention with these queries (n, points, heads, channels)."""
    return is_fast_learning(q) and q.shape[3] == 32


def learning_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Returns attention over all points. All tensors are (n, points, heads, 32)."""
    return _Attended.apply(q.contiguous(), k.contiguous(), v.contiguous())


def learning_norm(x: torch.Tensor, scale: torch.Tensor, epsilon: float) -> torch.Tensor:
    """Returns rows divided by their root mean square, and multiplied by a scale for each channel."""
    return _Norm.apply(x, scale, epsilon)


def learning_gate(both: torch.Tensor) -> torch.Tensor:
    """Returns SiLU of the first half of each row, times the second half."""
    return _Gated.apply(both)


def turned(qkv: torch.Tensor, angle: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Splits `qkv` (n, points, channels of all three) into queries, keys and values, each (n, points, heads, channels),
    and rotates queries and keys. A rotated pair is a channel of a head's first half and its counterpart in the second
    half. `angle` is (points, heads, channels / 2), in radians."""
    return _Turned.apply(qkv, angle)


def is_fast_transformer(*tensors: torch.Tensor, multiples: tuple[int, ...] = ()) -> bool:
    """Returns whether `transformer.cpp` supports these tensors with these widths."""
    return (
        _transformer is not None
        and all(t.dtype == torch.bfloat16 and t.device.type == "cpu" and t.is_contiguous() for t in tensors)
        and all(width % 16 == 0 for width in multiples)
        and not torch.is_grad_enabled()
    )


def attention(
    qkv: torch.Tensor,
    heads: int,
    kv_heads: int,
    key: int,
    value: int,
    cosine: torch.Tensor | None,
    sine: torch.Tensor | None,
) -> torch.Tensor:
    """Returns attention by `transformer.cpp`. `qkv` is (n, points, queries, keys and values), the result (n, points,
    heads × value)."""
    count, points, _ = qkv.shape
    out = torch.empty(count, points, heads * value, dtype=torch.bfloat16)
    _transformer.transformer_attention(
        *_sizes(count, points, heads, kv_heads, key, value),
        _pointer(qkv),
        _pointer(cosine),
        _pointer(sine),
        _pointer(out),
    )
    return out


def gate(both: torch.Tensor) -> torch.Tensor:
    """Returns SiLU of the first half of each row, times the second half."""
    width = both.shape[-1] // 2
    out = torch.empty(*both.shape[:-1], width, dtype=torch.bfloat16)
    _transformer.transformer_gate(*_sizes(both.numel() // (2 * width), width), _pointer(both), _pointer(out))
    return out


def rms_norm(x: torch.Tensor, epsilon: float) -> torch.Tensor:
    """Returns rows divided by their root mean square."""
    out = torch.empty_like(x)
    width = x.shape[-1]
    _transformer.transformer_norm(
        *_sizes(x.numel() // width, width), ctypes.c_float(epsilon), _pointer(x), _pointer(out)
    )
    return out


def scaled_silu(x: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Returns silu(x · scale + bias), with a scale and a bias for each channel."""
    out = torch.empty_like(x)
    width = x.shape[-1]
    _transformer.transformer_silu(
        *_sizes(x.numel() // width, width), _pointer(scale), _pointer(bias), _pointer(x), _pointer(out)
    )
    return out


def prepare(threads: int) -> None:
    """Sets the number of threads of PyTorch and of the kernels, which use another OpenMP. Makes the allocator keep
    freed memory."""
    torch.set_num_threads(threads)
    try:
        # By default, glibc returns tensors of some MB to the system at once, and each new one then costs thousands of
        # page faults.
        libc = ctypes.CDLL(None)
        libc.mallopt(ctypes.c_int(-3), ctypes.c_int(32 << 20))
        libc.mallopt(ctypes.c_int(-1), ctypes.c_int(1 << 30))
    except (OSError, AttributeError):
        pass
    if _winograd is not None or _transformer is not None or _learning is not None:
        try:
            ctypes.CDLL("libgomp.so.1").omp_set_num_threads(ctypes.c_int(threads))
        except OSError:
            pass
