"""Losses over rows that are laid flat are those of each row alone, computed by loops from padded rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers

from models import word_piece_tokenizer
from weft.encoding.subwords import FastTokenizer
from weft.training.batches import Batch, Material
from weft.training.changes import draw, made_rows
from weft.training.config import ChangesConfig, CorpusConfig, GoldConfig, ThroughConfig, TrainingConfig
from weft.training.flat_batches import DIRECT, FLAT, LINKED, THROUGH, FlatMaker
from weft.training.losses import gold_links, null_directions
from weft.training.model import TrainableEncoder
from weft.training.objectives import Losses
from weft.training.packing import Packing, pack
from weft.training.rows import Vocabulary
from weft.training.segments import Sentences
from weft.training.steps import Steps, material_of

LIBRARY = word_piece_tokenizer()
TOKENIZER = FastTokenizer(LIBRARY)
NULL = 1.5
OBJECTIVES = ("gold", "teacher", "unrelated", "masked")


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grids")
    lines = [f"{'das kleine Haus ' * (k % 3 + 1)}||| {'the small house dog ' * (k % 2 + 1)}{k}\n" for k in range(48)]
    (folder / "text").write_text("".join(lines))
    (folder / "links").write_text("".join("0-0 1p2 2-1\n" if k % 4 else "\n" for k in range(48)))
    (folder / "plain").write_text("".join(f"{k} der Hund schläft ||| {k} the dog sleeping\n" for k in range(30)))
    (folder / "third").write_text("".join("le chien ici\n" if k % 2 else "\n" for k in range(30)))
    corpora = (
        CorpusConfig(str(folder / "text"), links=str(folder / "links"), weight=0.5),
        CorpusConfig(str(folder / "plain"), through=str(folder / "third")),
    )
    return pack(corpora, Packing(TOKENIZER, 40, (), "error", True), folder / "packed"), corpora


def encoder(seed, kind, joint):
    torch.manual_seed(seed)
    names = {"bert": ("BertConfig", "BertForMaskedLM"), "xlm-roberta": ("XLMRobertaConfig", "XLMRobertaForMaskedLM")}
    config, model = (getattr(transformers, name) for name in names[kind])
    library = model(config(
        vocab_size=LIBRARY.get_vocab_size(), hidden_size=16, num_hidden_layers=3, num_attention_heads=2,
        intermediate_size=24, max_position_embeddings=130, pad_token_id=0,
    ))  # fmt: skip
    for parameter in library.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.2)
    return TrainableEncoder(library, layer=2, with_psi=False, joint=joint).eval()


def directions(model, sides):
    """Log probabilities of one pair of ids."""
    rows = [[2, *ids, 3] for ids in sides]
    if model.joint:
        ids, positions = torch.tensor([rows[0] + rows[1]]), torch.tensor([[*range(len(rows[0])), *range(len(rows[1]))]])
        states = model.states(ids, torch.ones_like(ids), positions)[0]
        states = states[1 : 1 + len(sides[0])], states[len(rows[0]) + 1 : -1]
    else:
        states = [model.states(torch.tensor([row]), torch.ones(1, len(row)))[0, 1:-1] for row in rows]
    real = [torch.ones(1, len(side), dtype=torch.bool) for side in sides]
    return null_directions(states[0][None], states[1][None], *real, null=NULL)


def between_words(corpus, unit, pair, flipped, kind):
    found = corpus[pair]
    links = {tuple(link[::-1] if flipped else link)
             for link, sure in zip(found.links.tolist(), found.sure.tolist(), strict=True) if sure == kind}  # fmt: skip
    words = [found.source_words, found.target_words][:: -1 if flipped else 1]
    return [[(i, j) in links for j in words[1].tolist()] for i in words[0].tolist()]


def ids_of(corpus, sentence):
    first, last = corpus.arrays["starts"][sentence : sentence + 2]
    return corpus.arrays["ids"][first:last].tolist()


def by_way_of(one, two, settings):
    """Probabilities of two steps multiplied, then evened, by loops."""
    found = []
    for axis, (left, right) in enumerate(((one.forward, two.forward), (one.backward, two.backward))):
        left, right = (left[0, :, :-1], right[0, :, :-1]) if axis == 0 else (left[0, :-1], right[0, :-1])
        product = left.exp() @ right.exp()
        mass, even = product.sum(1 - axis, keepdim=True), product**settings.power
        even = even * mass / even.sum(1 - axis, keepdim=True)
        found.append(settings.odds * even / (1 + (settings.odds - 1) * mass))
    return found


class Reference:
    """Sums of all losses, row by row."""

    def __init__(self, corpus, config, model, teacher, part, made):
        self.sums = dict.fromkeys(("gold", "teacher", "unrelated"), 0.0)
        self.corpus, self.config, self.teacher, self.made = corpus, config, teacher, made
        rows = part.student
        for row, ((a, b), (n, m)) in enumerate(zip(rows.offsets.tolist(), rows.lengths.tolist(), strict=True)):
            sides = slice(a, a + n), slice(b, b + m)
            ours = directions(model, [rows.ids[side].tolist() for side in sides])
            owners = [rows.unit[side].tolist() for side in sides]
            places = [rows.place[side].tolist() for side in sides]
            unit = int(made.unit[row])
            pair = int(made.units.pair[unit])
            corpus_of = config.corpora[int(made.units.corpus[unit])]
            if corpus.arrays["given"][pair] and not made.changed[row]:
                self.gold(ours, owners, places, corpus_of)
            else:
                name, weight = ("unrelated", 1.0) if made.changed[row] else ("teacher", corpus_of.weight)
                self.sums[name] += weight * self.entropy(ours, owners, places)

    def entropy(self, ours, owners, places):
        total = 0.0
        units = {unit: self.taught(unit) for unit in {*owners[0], *owners[1]} if unit >= 0}
        shape = len(owners[0]), len(owners[1])
        wanted = [np.zeros(shape), np.zeros(shape)]
        for i, (unit, place) in enumerate(zip(owners[0], places[0], strict=True)):
            for j, (other, there) in enumerate(zip(owners[1], places[1], strict=True)):
                if unit == other >= 0:
                    wanted[0][i, j], wanted[1][i, j] = (float(part[place, there]) for part in units[unit])
        forward, backward = ours.forward[0], ours.backward[0]
        for i in range(shape[0]):
            total -= sum(wanted[0][i, j] * forward[i, j].item() for j in range(shape[1]))
            total -= (1 - wanted[0][i].sum()) * forward[i, -1].item()
        for j in range(shape[1]):
            total -= sum(wanted[1][i, j] * backward[i, j].item() for i in range(shape[0]))
            total -= (1 - wanted[1][:, j].sum()) * backward[-1, j].item()
        return total

    def taught(self, unit):
        units = self.made.units
        source, target, third = (int(getattr(units, name)[unit]) for name in ("source", "target", "third"))
        if third < 0:
            both = directions(self.teacher, [ids_of(self.corpus, source), ids_of(self.corpus, target)])
            return both.forward[0, :, :-1].exp(), both.backward[0, :-1].exp()
        halves = [directions(self.teacher, [ids_of(self.corpus, x), ids_of(self.corpus, y)])
                  for x, y in ((source, third), (third, target))]  # fmt: skip
        return by_way_of(*halves, self.config.through)

    def gold(self, ours, owners, places, corpus_of):
        shape = 1, len(owners[0]), len(owners[1])
        kinds = {True: torch.zeros(shape, dtype=torch.bool), False: torch.zeros(shape, dtype=torch.bool)}
        for kind, matrix in kinds.items():
            for unit in {unit for unit in owners[0] if unit >= 0}:
                pair, flipped = int(self.made.units.pair[unit]), bool(self.made.flipped[unit])
                known = between_words(self.corpus, unit, pair, flipped, kind)
                for i, (owner, place) in enumerate(zip(owners[0], places[0], strict=True)):
                    for j, (other, there) in enumerate(zip(owners[1], places[1], strict=True)):
                        if owner == other == unit:
                            matrix[0, i, j] = known[place][there]
        yes, settings = torch.tensor([True]), self.config.gold
        self.sums["gold"] += gold_links(
            ours, kinds[True], kinds[False], settings.stray * yes, yes, torch.tensor([corpus_of.weight]),
            cross=settings.cross, null=True,
        ).item()  # fmt: skip


@pytest.mark.parametrize(("kind", "joint"), [("bert", True), ("bert", False), ("xlm-roberta", False)])
def test_losses_are_those_of_each_row_alone(text, kind, joint):
    corpus, corpora = text
    config = TrainingConfig(
        "out", corpora, objectives=OBJECTIVES, batch_size=24, null=NULL, changed=0.6, batch_tokens=10_000,
        changes=ChangesConfig(double=0.4), through=ThroughConfig(power=0.8, odds=2.0),
        gold=GoldConfig(silver_stray=0.5),
    )  # fmt: skip
    model, teacher = encoder(1, kind, joint), encoder(2, kind, joint)
    vocabulary = Vocabulary(LIBRARY.token_to_id("[MASK]"), LIBRARY.get_vocab_size())
    material = Material(corpus, config, TOKENIZER, vocabulary, 40, Sentences(corpus, TOKENIZER, joint=joint))
    units = corpus.units(np.random.default_rng(3).permutation(len(corpus))[:24])
    drawn = draw(np.random.default_rng(4), units, corpus, config, 120)
    part = FlatMaker(material).part(units, drawn)
    assert {group.kind for group in part.groups} == {DIRECT, THROUGH, LINKED}
    assert drawn.double.any()
    made = made_rows(units, drawn, material.sentences)
    with torch.no_grad():
        losses = Losses(model, config, special=(1, 1), teacher=teacher)
        found = losses(Batch(len(units), {FLAT.name: part}))
        expected = Reference(corpus, config, model, teacher, part, made).sums
    for name, value in expected.items():
        assert abs(value) > 1
        assert found[name].item() == pytest.approx(value, rel=2e-4)
    assert found["masked"].item() == 0  # asked for in training alone


def test_masked_words_are_predicted_from_what_is_left(text):
    """A model that reads masks has another loss than one that does not, and only masked places count."""
    corpus, corpora = text
    config = TrainingConfig("out", corpora, objectives=("masked",), batch_size=24, batch_tokens=10_000)
    vocabulary = Vocabulary(LIBRARY.token_to_id("[MASK]"), LIBRARY.get_vocab_size())
    material = Material(corpus, config, TOKENIZER, vocabulary, 40)
    material = material_of(material, torch.device("cpu"), joint=True, processes=1)
    [batch] = Steps(material)[0]
    part, model = batch.part(FLAT), encoder(1, "bert", True)
    ids, labels = part.masks.masked(part.student.ids, 1.0)
    changed = (ids != part.student.ids).nonzero()[:, 0]
    assert set(changed.tolist()) <= set(part.masks.places.tolist())
    assert (ids[changed] == vocabulary.mask).float().mean() > 0.7
    assert part.counts["masked"] == len(labels) == pytest.approx(0.1 * part.student.lengths.sum(), rel=0.5)
    with torch.no_grad():
        found = Losses(model, config, special=(1, 1))(batch, masking=1.0)["masked"]
        states = model.flat_states(part.student, ids, top=True)[1]
        logits = model.predictions(states)[part.masks.places]
    expected = torch.nn.functional.cross_entropy(logits, part.student.ids[part.masks.places], reduction="sum")
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
    half = replace(config.masking, halved_after=0.3, until=0.7)
    assert [half.strength(share) for share in (0.0, 0.3, 0.7, 1.0)] == [1.0, 0.5, 0.0, 0.0]
    assert config.masking.strength(1.0) == 1.0
