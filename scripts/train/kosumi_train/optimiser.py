"""Optimisers: Muon, and PyTorch's AdamW and Nesterov momentum."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from . import fast


@torch.no_grad()
def orthogonal(matrix: torch.Tensor, steps: int = 5) -> torch.Tensor:
    """Returns approximately the nearest orthogonal matrix, for one matrix or for each of several (n, rows, columns), by
    the Newton-Schulz iteration.

    CITE: Keller Jordan, "Muon: an optimizer for hidden layers in neural networks" (2024), for its coefficients.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = matrix.shape[-2] > matrix.shape[-1]
    x = matrix.mT if tall else matrix
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    # Computes in bf16, as the source does, where that is faster. The iteration is approximate in any case.
    if x.device.type == "cuda" or fast.has_pairs():
        x = x.bfloat16()
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    x = x.to(matrix.dtype)
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Momentum with orthogonalised steps for weight matrices, and Adam for all other weights.

    Parameters in groups with `muon=True` are matrices, or convolutions, which count as matrices of outputs × the rest.
    Their steps have the same root mean square as Adam's (0.2), so both can share one learning rate.

    CITE: Liu et al., "Muon is scalable for LLM training" (2025), for the scale and the weight decay.
    """

    def __init__(
        self,
        groups: list[dict[str, Any]],
        lr: float,
        momentum: float = 0.95,
        betas: tuple[float, float] = (0.9, 0.98),
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(groups, dict(lr=lr, momentum=momentum, betas=betas, weight_decay=weight_decay, muon=False))

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """Takes a step along the current gradients."""
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            if not parameters:
                continue
            if group["weight_decay"]:
                torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
            if group["muon"]:
                self._muon(group, parameters)
            else:
                self._adam(group, parameters)

    def _muon(self, group: dict[str, Any], parameters: list[torch.Tensor]) -> None:
        # Matrices of one shape are iterated together: on a GPU, many small products cost more than a large one.
        alike: dict[tuple[int, int], list[tuple[torch.Tensor, torch.Tensor]]] = {}
        for parameter in parameters:
            state, gradient = self.state[parameter], parameter.grad
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(parameter)
            momentum = state["momentum"].lerp_(gradient, 1 - group["momentum"])
            update = gradient.lerp(momentum, group["momentum"])
            matrix = update.reshape(len(update), -1)
            alike.setdefault(tuple(matrix.shape), []).append((parameter, matrix))
        for shape, found in alike.items():
            scale = 0.2 * max(shape) ** 0.5
            steps = orthogonal(torch.stack([matrix for _, matrix in found]))
            for (parameter, _), step in zip(found, steps):
                parameter.add_(step.reshape(parameter.shape), alpha=-group["lr"] * scale)

    def _adam(self, group: dict[str, Any], parameters: list[torch.Tensor]) -> None:
        # One call updates all parameters, because they are many and small.
        states = [self.state[parameter] for parameter in parameters]
        for state, parameter in zip(states, parameters):
            if "step" not in state:
                state["step"] = 0
                state["mean"], state["square"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
            state["step"] += 1
        gradients = [parameter.grad for parameter in parameters]
        means, squares = [state["mean"] for state in states], [state["square"] for state in states]
        first, second = group["betas"]
        torch._foreach_lerp_(means, gradients, 1 - first)
        torch._foreach_mul_(squares, second)
        torch._foreach_addcmul_(squares, gradients, gradients, 1 - second)
        roots = torch._foreach_sqrt(squares)
        torch._foreach_add_(roots, 1e-10)
        sizes = [-group["lr"] * (1 - second ** state["step"]) ** 0.5 / (1 - first ** state["step"]) for state in states]
        torch._foreach_addcdiv_(parameters, means, roots, sizes)


def make(network: nn.Module, kind: str, lr: float, weight_decay: float) -> torch.optim.Optimizer:
    """Returns an optimiser (`kind`: muon, adamw or nesterov). Weight decay applies only to weights of two or more
    dimensions. Raises `ValueError` for another kind."""
    matrices, last, others = [], [], []
    # Muon is for hidden layers. Output layers get Adam, because their rows have different meanings.
    answers = ("p2.", "policy_pass.", "v3.", "score.", "ownership.", "from_global.")
    for name, parameter in network.named_parameters():
        # The frequencies of rotations are not a matrix.
        if parameter.ndim < 2 or name.endswith("frequencies"):
            others.append(parameter)
        elif name.startswith(answers):
            last.append(parameter)
        else:
            matrices.append(parameter)
    groups = [
        dict(params=matrices, weight_decay=weight_decay, muon=True),
        dict(params=last, weight_decay=weight_decay, muon=False),
        dict(params=others, weight_decay=0.0, muon=False),
    ]
    if kind == "muon":
        return Muon(groups, lr=lr)
    for group in groups:
        del group["muon"]
    if kind == "adamw":
        return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.98), eps=1e-10)
    if kind == "nesterov":
        return torch.optim.SGD(groups, lr=lr, momentum=0.9, nesterov=True)
    raise ValueError(f"no optimiser {kind!r}: it must be muon, adamw or nesterov")
