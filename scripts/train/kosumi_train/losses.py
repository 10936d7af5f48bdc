"""Loss terms of a network's outputs, and the measures that validation reports."""

from __future__ import annotations

import dataclasses

import torch
import torch.nn.functional as F

from .model import SCORE_SCALE, TIME_SCALE, Answer
from .shards import Batch


@dataclasses.dataclass(frozen=True)
class Weights:
    """Weights of the loss terms."""

    # Weights of the teacher's policy here, and of the played move beside it (`played`). Without a teacher, the played
    # move has weight 1.
    policy: float = 1.0
    # The teacher's optimistic policy.
    optimistic: float = 0.4
    played: float = 0.3
    value: float = 1.0
    # Share of the teacher's value in the target of the value. The rest is the result of the game.
    teacher_value: float = 0.9
    # Share of the search's expectation in the result of a self-play game. The end of a game is exact, but depends on
    # chance. The expectation of a search depends less on chance.
    expected: float = 0.0
    score: float = 0.5
    error: float = 0.2
    ownership: float = 1.0


def _mean_where(mask: torch.Tensor, losses: torch.Tensor) -> torch.Tensor:
    """Returns the mean over all rows, in which rows where `mask` does not hold count as 0."""
    return torch.where(mask, losses, torch.zeros_like(losses)).mean()


def wanted_errors(answer: Answer, batch: Batch) -> torch.Tensor:
    """Returns the targets (n, 2) of the short-term errors of value and lead.

    The teacher's own errors are too small as targets: the trained network errs more than its teacher, and a search that
    trusted such small errors would trust single evaluations too much. So the difference between the network and its
    teacher is added in quadrature.
    """
    assert batch.teacher_error is not None
    own = torch.zeros_like(batch.teacher_error)
    if batch.teacher_value is not None:
        value = F.softmax(answer.value.detach().float(), dim=1)
        own[:, 0] = (value[:, 0] - value[:, 1]) - (batch.teacher_value[:, 0] - batch.teacher_value[:, 1])
    if batch.teacher_score is not None:
        own[:, 1] = answer.lead().detach().float() - batch.teacher_score[:, 2]
    return (batch.teacher_error.square() + own.square()).sqrt()


def wanted_result(batch: Batch, weights: Weights) -> torch.Tensor:
    """Returns the results of the games (n, 3), mixed with the expectations of searches. A row is 0 where the result is
    unknown."""
    if batch.expected is None or weights.expected == 0:
        return batch.result
    win = (1 + batch.expected) / 2
    mixed = torch.lerp(batch.result, torch.stack([win, 1 - win, torch.zeros_like(win)], dim=1), weights.expected)
    is_known = ~batch.expected.isnan() & (batch.result.sum(dim=1) > 0)
    return torch.where(is_known[:, None], mixed, batch.result)


def legal_logits(answer: Answer, batch: Batch, optimistic: bool = False) -> torch.Tensor:
    """Returns a policy's logits with occupied points masked, as in programs that use the network."""
    occupied = batch.spatial[:, 1:3].sum(dim=1).flatten(1) > 0
    policy: torch.Tensor = answer.optimistic if optimistic else answer.policy
    return torch.cat([policy[:, :-1].masked_fill(occupied, -1e4), policy[:, -1:]], dim=1)


def teacher_cross_entropy(
    logits: torch.Tensor, batch: Batch, share: torch.Tensor, others: torch.Tensor | None
) -> torch.Tensor:
    """Returns the cross-entropy (n) with the teacher's policy. Moves in the list count one by one, and all others
    (`others` is their probability) as one move."""
    log_policy = F.log_softmax(logits, dim=1)
    total = share.sum(dim=1)
    cost = -(log_policy.gather(1, batch.policy_move) * share).sum(dim=1)
    if others is not None:
        # Moves with probability 0 only fill the list.
        named = torch.zeros_like(logits).scatter_add_(1, batch.policy_move, batch.policy_share) > 0
        rest = log_policy.masked_fill(named, -1e4).logsumexp(dim=1)
        cost = cost - others * rest.clamp(min=-20.0)
        total = total + others
    return cost / total.clamp(min=1e-6)


def losses(answer: Answer, batch: Batch, weights: Weights) -> dict[str, torch.Tensor]:
    """Returns every loss term, multiplied by its weight. The loss is their sum."""
    logits = legal_logits(answer, batch).float()
    log_policy = F.log_softmax(logits, dim=1)
    played = F.nll_loss(log_policy, batch.played, reduction="none")
    parts: dict[str, torch.Tensor] = {}
    if batch.policy_share is not None:
        known = batch.policy_share.sum(dim=1) > 0
        cost = teacher_cross_entropy(logits, batch, batch.policy_share, batch.policy_rest)
        parts["policy"] = weights.policy * _mean_where(known, cost)
        parts["played"] = _mean_where(batch.has_played, torch.where(known, weights.played, 1.0).mul(played))
    else:
        parts["played"] = _mean_where(batch.has_played, played)
    if answer.optimistic is not None:
        # Without a target, the optimistic policy learns the plain policy.
        optimistic = legal_logits(answer, batch, optimistic=True).float()
        if batch.optimistic_share is not None:
            cost = teacher_cross_entropy(optimistic, batch, batch.optimistic_share, batch.optimistic_rest)
            parts["optimistic"] = weights.optimistic * _mean_where(batch.optimistic_share.sum(dim=1) > 0, cost)
        else:
            cost = -(log_policy.detach().exp() * F.log_softmax(optimistic, dim=1)).sum(dim=1)
            parts["optimistic"] = weights.optimistic * cost.mean()

    wanted = wanted_result(batch, weights)
    if batch.teacher_value is not None:
        mixed = weights.teacher_value * batch.teacher_value + (1 - weights.teacher_value) * wanted
        wanted = torch.where(batch.result.sum(dim=1, keepdim=True) > 0, mixed, batch.teacher_value)
    parts["value"] = -weights.value * (F.log_softmax(answer.value.float(), dim=1) * wanted).sum(dim=1).mean()

    score = answer.score.float()
    spread = F.softplus(score[:, 1])
    if batch.teacher_score is not None:
        target = batch.teacher_score / batch.teacher_score.new_tensor([SCORE_SCALE] * 3 + [TIME_SCALE])
        answers = torch.stack([score[:, 0], spread, score[:, 2], F.softplus(score[:, 3])], dim=1)
        cost = F.smooth_l1_loss(answers, target, beta=0.5)
    else:
        known = ~torch.isnan(batch.score)
        target = torch.where(known, batch.score, torch.zeros_like(batch.score)) / SCORE_SCALE
        error = (target - score[:, 0]).abs()
        cost = _mean_where(known, F.smooth_l1_loss(score[:, 0], target, reduction="none", beta=0.5))
        cost = cost + _mean_where(known, F.smooth_l1_loss(score[:, 2], target, reduction="none", beta=0.5))
        # The mean absolute error of a normal distribution is 0.8 times its standard deviation.
        spread_cost = F.smooth_l1_loss(spread, error.detach() / 0.8, reduction="none", beta=0.5)
        cost = (cost + _mean_where(known, spread_cost)) / 3
        # Without a target, the variance time is only kept small.
        cost = cost + 1e-4 * score[:, 3].square().mean()
    parts["score"] = weights.score * cost
    if batch.teacher_error is not None and answer.errors is not None:
        # Both errors are in units of about their mean. In this range the loss is nearly quadratic, so the network
        # learns the mean and not the median.
        unit = answer.errors.new_tensor(answer.error_scales).sqrt()
        cost = F.smooth_l1_loss(answer.expected_errors() / unit, wanted_errors(answer, batch) / unit, beta=0.5)
        parts["error"] = weights.error * cost

    owners = batch.teacher_ownership if batch.teacher_ownership is not None else batch.ownership
    if owners is not None:
        known = ~torch.isnan(owners)
        share = torch.where(known, owners + 1, torch.ones_like(owners)) / 2
        # (1 + tanh x) / 2 is the logistic function of 2x.
        cost = F.binary_cross_entropy_with_logits(2 * answer.ownership.float(), share, reduction="none")
        parts["ownership"] = weights.ownership * _mean_where(known, cost)
    return parts


@torch.no_grad()
def measures(answer: Answer, batch: Batch) -> dict[str, torch.Tensor]:
    """Returns the measures that validation reports. Each is a sum over the rows for which it is known, under `name`,
    with the number of these rows under `name/count`."""
    logits = legal_logits(answer, batch).float()
    log_policy = F.log_softmax(logits, dim=1)
    best = logits.topk(5, dim=1).indices
    hit = best == batch.played[:, None]
    value = F.softmax(answer.value.float(), dim=1)
    expected = value[:, 0] - value[:, 1]
    result = batch.result[:, 0] - batch.result[:, 1]
    ended = batch.result.sum(dim=1) > 0
    rows = {
        "top1": (hit[:, 0].float(), batch.has_played),
        "top5": (hit.any(dim=1).float(), batch.has_played),
        "policy_loss": (F.nll_loss(log_policy, batch.played, reduction="none"), batch.has_played),
        "value_accuracy": ((expected * result > 0).float(), result != 0),
        "value_loss": (-(F.log_softmax(answer.value.float(), dim=1) * batch.result).sum(dim=1), ended),
        "value_error": ((expected - result).square(), ended),
        "score_error": ((answer.score_mean().float() - batch.score).abs(), ~torch.isnan(batch.score)),
    }
    if batch.ownership is not None:
        known = ~torch.isnan(batch.ownership[:, 0])
        error = (torch.tanh(answer.ownership.float()) - batch.ownership).abs().mean(dim=1)
        rows["ownership_error"] = (error, known)
    if batch.teacher_value is not None:
        assert batch.policy_move is not None and batch.policy_share is not None
        assert batch.teacher_score is not None
        known = batch.policy_share.sum(dim=1) > 0
        share = batch.policy_share
        if batch.policy_rest is not None:
            share = torch.cat([share, batch.policy_rest[:, None]], dim=1)
        share = share / share.sum(dim=1, keepdim=True).clamp(min=1e-6)
        cross = teacher_cross_entropy(logits, batch, batch.policy_share, batch.policy_rest)
        entropy = -(share * share.clamp(min=1e-9).log()).sum(dim=1)
        teacher = batch.teacher_value[:, 0] - batch.teacher_value[:, 1]
        rows["teacher_top1"] = ((best[:, 0] == batch.policy_move[:, 0]).float(), known)
        rows["teacher_policy"] = (cross - entropy, known)
        rows["teacher_value"] = ((expected - teacher).square(), None)
        rows["teacher_score"] = ((answer.score_mean().float() - batch.teacher_score[:, 0]).abs(), None)
        error = (torch.tanh(answer.ownership.float()) - batch.teacher_ownership).abs().mean(dim=1)
        rows["teacher_ownership"] = (error, None)
        if batch.optimistic_share is not None and answer.optimistic is not None:
            optimistic_best = legal_logits(answer, batch, optimistic=True).argmax(dim=1)
            wanted = batch.policy_move.gather(1, batch.optimistic_share.argmax(dim=1, keepdim=True))[:, 0]
            rows["teacher_optimistic_top1"] = (
                (optimistic_best == wanted).float(),
                batch.optimistic_share.sum(dim=1) > 0,
            )
        errors = answer.expected_errors()
        if batch.teacher_error is not None and errors is not None:
            off = (errors.float() - wanted_errors(answer, batch)).abs()
            rows["teacher_value_error"], rows["teacher_score_error"] = (off[:, 0], None), (off[:, 1], None)
    sums: dict[str, torch.Tensor] = {}
    for name, (numbers, known) in rows.items():
        known = torch.ones_like(numbers, dtype=torch.bool) if known is None else known
        sums[name] = torch.where(known, numbers, torch.zeros_like(numbers)).sum()
        sums[f"{name}/count"] = known.sum()
    return sums
