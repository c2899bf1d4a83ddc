"""Each loss against a slow float64 reference written straight from its equation, with padding; gradients checked."""

from __future__ import annotations

import math

import pytest
import torch
from entmax import entmax_bisect

from weft.training.losses import (
    asked_of,
    consistency,
    cross_entropy,
    directions,
    gold_links,
    masked_language_model,
    null_directions,
    parallel_identification,
    self_training,
)

SHAPES = [(4, 6), (1, 3), (5, 2), (1, 1)]
HEIGHT, WIDTH, DEPTH = 5, 6, 8


def batch(seed: int = 0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    source_states = torch.randn(len(SHAPES), HEIGHT, DEPTH, generator=generator, dtype=dtype)
    target_states = torch.randn(len(SHAPES), WIDTH, DEPTH, generator=generator, dtype=dtype)
    source = torch.tensor([[i < n for i in range(HEIGHT)] for n, _ in SHAPES])
    target = torch.tensor([[j < m for j in range(WIDTH)] for _, m in SHAPES])
    links = torch.rand(len(SHAPES), HEIGHT, WIDTH, generator=generator) < 0.4
    return source_states, target_states, source, target, links


def reference_probabilities(x, y):
    """Two lists of lists by loops: S_xy[i][j] and S_yx[j][i]."""
    products = [[sum(a * b for a, b in zip(hx, hy, strict=True)) for hy in y] for hx in x]
    s_xy = [[math.exp(v) / sum(map(math.exp, row)) for v in row] for row in products]
    columns = list(zip(*products, strict=True))
    s_yx = [[math.exp(v) / sum(map(math.exp, column)) for v in column] for column in columns]
    return s_xy, s_yx


def pairs(states):
    source_states, target_states, *_ = states
    for k, (n, m) in enumerate(SHAPES):
        yield k, n, m, reference_probabilities(source_states[k, :n].tolist(), target_states[k, :m].tolist())


def test_self_training_is_equation_4():
    states = batch()
    expected = 0.0
    for k, n, m, (s_xy, s_yx) in pairs(states):
        for i in range(n):
            for j in range(m):
                expected -= states[4][k, i, j].item() * 0.5 * (s_xy[i][j] / n + s_yx[j][i] / m)
    assert self_training(directions(*states[:4]), states[4]).item() == pytest.approx(expected, rel=1e-5)


def test_consistency_is_the_trace():
    states = batch(1)
    expected = 0.0
    for _, n, m, (s_xy, s_yx) in pairs(states):
        # trace of the m × m matrix S_xyᵀ S_yxᵀ, whose entry (j, j) is Σ_i S_xy[i][j] S_yx[j][i]
        expected -= sum(sum(s_xy[i][j] * s_yx[j][i] for i in range(n)) for j in range(m)) / min(m, n)
    assert consistency(directions(*states[:4])).item() == pytest.approx(expected, rel=1e-5)


def test_identical_one_hot_alignments_are_perfectly_consistent():
    states = 30 * torch.eye(4)[None]
    real = torch.ones(1, 4, dtype=torch.bool)
    probabilities = directions(states, states, real, real)
    assert consistency(probabilities).item() == pytest.approx(-1)
    assert self_training(probabilities, torch.eye(4)[None].bool()).item() == pytest.approx(-1)


def test_masked_language_model_is_minus_log_likelihood():
    generator = torch.Generator().manual_seed(2)
    logits = torch.randn(7, 11, generator=generator, dtype=torch.float64)
    labels = torch.randint(11, (7,), generator=generator)
    expected = 0.0
    for row, label in zip(logits.tolist(), labels.tolist(), strict=True):
        expected -= row[label] - math.log(sum(map(math.exp, row)))
    assert masked_language_model(logits, labels).item() == pytest.approx(expected, rel=1e-5)


def test_parallel_identification_is_equation_5():
    scores, parallel = torch.tensor([2.0, -1.0, 0.3]), torch.tensor([True, False, False])
    expected = 0.0
    for score, label in zip(scores.tolist(), parallel.tolist(), strict=True):
        s = 1 / (1 + math.exp(-score))
        expected -= label * math.log(s) + (1 - label) * math.log(1 - s)
    assert parallel_identification(scores, parallel).item() == pytest.approx(expected, rel=1e-5)


def test_padding_changes_nothing():
    source_states, target_states, source, target, links = batch(3)
    whole = self_training(directions(source_states, target_states, source, target), links)
    garbage = source_states.clone()
    garbage[~source] = 1e4
    assert self_training(directions(garbage, target_states, source, target), links).item() == pytest.approx(
        whole.item()
    )
    alone = 0.0
    for k, (n, m) in enumerate(SHAPES):
        one = slice(k, k + 1)
        states = source_states[one, :n], target_states[one, :m], source[one, :n], target[one, :m]
        alone += self_training(directions(*states), links[one, :n, :m]).item()
    assert alone == pytest.approx(whole.item(), rel=1e-6)


def test_weights_scale_pairs():
    states = batch(4)
    probabilities = directions(*states[:4])
    weights = torch.tensor([2.0, 0.0, 0.0, 0.0])
    first = type(probabilities)(*(part[:1] for part in probabilities))
    for loss in (lambda p, w: self_training(p, states[4][: len(p.valid)], w), consistency):
        assert loss(probabilities, weights).item() == pytest.approx(2 * loss(first, None).item(), rel=1e-6)


@pytest.mark.parametrize("name", ["so", "co"])
def test_gradients(name):
    source_states, target_states, source, target, links = batch(5)

    def loss(x, y):
        # the float64 route through the same lines: float() would round the numerical derivative away
        valid = source[:, :, None] & target[:, None, :]
        products = (x @ y.transpose(1, 2)).masked_fill(~valid, -1e30)
        probabilities = type(directions(source_states, target_states, source, target))(
            products.softmax(2).masked_fill(~valid, 0), products.softmax(1).masked_fill(~valid, 0), valid
        )
        return self_training(probabilities, links) if name == "so" else consistency(probabilities)

    assert torch.autograd.gradcheck(loss, (source_states.requires_grad_(), target_states.requires_grad_()))


def test_gradients_reach_real_subwords_only_and_never_the_links():
    source_states, target_states, source, target, links = batch(6)
    source_states.requires_grad_()
    guide = links.double().requires_grad_()
    probabilities = directions(source_states, target_states, source, target)
    (self_training(probabilities, guide) + consistency(probabilities)).backward()
    assert guide.grad is None
    assert (source_states.grad[~source] == 0).all()
    assert (source_states.grad[0, :4].abs().sum(dim=1) > 0).all()


@pytest.mark.parametrize("alpha", [1.3, 1.5, 2.0])
def test_entmax_directions_are_the_librarys_and_can_be_learned_through(alpha):
    source_states, target_states, source, target, links = batch(7)
    source_states.requires_grad_()
    probabilities = directions(source_states, target_states, source, target, alpha=alpha)
    for k, (n, m) in enumerate(SHAPES):
        products = (source_states[k, :n] @ target_states[k, :m].T).detach()
        expected = entmax_bisect(products, alpha=alpha, dim=1, n_iter=80)
        torch.testing.assert_close(probabilities.forward[k, :n, :m].double(), expected, atol=1e-5, rtol=1e-4)
    self_training(probabilities, links).backward()
    assert source_states.grad.isfinite().all()
    assert source_states.grad.abs().sum() > 0


def test_large_dot_products_keep_their_differences_under_autocast():
    x, y = torch.full((1, 1, 1), 20.0), torch.tensor([[[20.0], [20.05]]])
    real = torch.ones(1, 1, dtype=torch.bool), torch.ones(1, 2, dtype=torch.bool)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        forward = directions(x, y, *real).forward
    assert forward[0, 0, 1].item() == pytest.approx(1 / (1 + math.exp(-1)), abs=1e-4)


def with_null(states, null):
    """Both directions by loops: rows of probabilities with the null's at the end, and likewise columns."""
    source_states, target_states, *_ = states
    for k, (n, m) in enumerate(SHAPES):
        x, y = source_states[k, :n].tolist(), target_states[k, :m].tolist()
        products = [[sum(a * b for a, b in zip(hx, hy, strict=True)) for hy in y] for hx in x]
        yield (
            k,
            [[math.exp(v) / sum(map(math.exp, [*row, null])) for v in [*row, null]] for row in products],
            [[math.exp(v) / sum(map(math.exp, [*c, null])) for v in [*c, null]] for c in zip(*products, strict=True)],
        )


def test_the_null_takes_its_share():
    states = batch(3)
    logs = null_directions(*states[:4], null=0.7)
    for k, forward, backward in with_null(states, 0.7):
        n, m = SHAPES[k]
        cells = [*range(m), WIDTH]  # padding lies between the words and the null
        found = logs.forward[k, :n].exp()[:, cells]
        torch.testing.assert_close(found, torch.tensor(forward))
        found = logs.backward[k].exp()[[*range(n), HEIGHT]][:, :m]
        torch.testing.assert_close(found, torch.tensor(backward).T)


def test_a_student_that_agrees_has_the_teachers_entropy_and_any_other_has_more():
    ours = null_directions(*batch(4)[:4], null=0.5)
    theirs = null_directions(*batch(5)[:4], null=0.5)
    expected = [
        -sum(p * math.log(p) for row in (*forward, *backward) for p in row)
        for _, forward, backward in with_null(batch(5), 0.5)
    ]
    same = cross_entropy(theirs, theirs.forward.exp(), theirs.backward.exp())
    assert same.tolist() == pytest.approx(expected, rel=1e-5)
    other = cross_entropy(ours, theirs.forward.exp(), theirs.backward.exp())
    assert (other > same).all()


def test_without_a_null_nothing_points_to_it():
    logs = null_directions(*batch(6)[:4], null=None)
    assert logs.forward[0, :4, -1].exp().max() == 0
    theirs = null_directions(*batch(7)[:4], null=None)
    assert torch.isfinite(cross_entropy(logs, theirs.forward.exp(), theirs.backward.exp())).all()


def test_gold_with_strays_by_loops():
    states = batch(9)
    logs = null_directions(*states[:4], null=0.3)
    generator = torch.Generator().manual_seed(1)
    valid = states[2][:, :, None] & states[3][:, None, :]
    sure = states[4] & valid
    possible = (torch.rand(sure.shape, generator=generator) < 0.2) & valid & ~sure
    trusted, weights = torch.tensor([True, True, False, True]), torch.tensor([1.0, 2.0, 1.0, 0.5])
    complete = torch.tensor([True, False, False, True])
    expected, count = 0.0, 0
    for k, forward, backward in with_null(states, 0.3):
        n, m = SHAPES[k]
        total = 0.0
        cells = {(i, j) for i in range(n) for j in range(m)}
        links = {cell for cell in cells if sure[k][cell]}
        free = {cell for cell in cells if possible[k][cell]}
        for rows, key in ((forward, 0), (backward, 1)):
            for place, row in enumerate(rows):
                mine = [cell[1 - key] for cell in links if cell[key] == place]
                allowed = [cell[1 - key] for cell in links | free if cell[key] == place]
                if mine:
                    total += 1 - sum(row[j] for j in allowed) - 0.5 * sum(math.log(row[j]) for j in mine) / len(mine)
                elif not allowed and complete[k]:
                    total -= 0.5 * math.log(row[-1])
                count += bool(mine) or (not allowed and bool(complete[k]))
        if trusted[k]:
            total -= sum(2 * math.log(1 - 0.99 * min(forward[i][j], backward[j][i])) for i, j in cells - links - free)
        expected += weights[k].item() * total
    found = gold_links(logs, sure, possible, 2.0 * trusted, complete, weights, cross=0.5, null=True)
    assert found.item() == pytest.approx(expected, rel=1e-5)
    asked = [asked_of(sure, possible, real, complete, axis=axis) for real, axis in ((states[2], 2), (states[3], 1))]
    assert sum(int(part.sum()) for side in asked for part in side) == count
