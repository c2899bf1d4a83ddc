"""Two simulated annotators over a hundred pairs: what weft says of them against nltk, scikit-learn and scipy."""

from __future__ import annotations

import random

import numpy as np
import pytest
from nltk.translate.metrics import alignment_error_rate
from scipy.stats import bootstrap
from sklearn.metrics import cohen_kappa_score, f1_score

from weft import Link, score
from weft.annotation.agreement import agreement_of, finished_by_both
from weft.annotation.gold import confirmed_gold
from weft.annotation.importing import create_from_files
from weft.annotation.project import Project
from weft.annotation.record import Annotation, State
from weft.types import Alignment, GoldAlignment

PAIRS = 100


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    """Ann and Ben differ from the truth now and then, and have not finished everything."""
    draw, folder = random.Random(5), tmp_path_factory.mktemp("project")
    sizes = [(draw.randint(2, 9), draw.randint(2, 9)) for _ in range(PAIRS)]
    lines = [" ".join(["w"] * source) + " ||| " + " ".join(["w"] * target) for source, target in sizes]
    (folder / "pairs.txt").write_text("\n".join(lines) + "\n")
    create_from_files(folder / "two", [folder / "pairs.txt"])
    opened = Project.open(folder / "two")
    for number, (source, target) in enumerate(sizes):
        truth = [Link(k, min(k, target - 1), None, draw.random() < 0.8) for k in range(source)]
        for name in ("Ann", "Ben"):
            links = {(link.source, link.target): link.sure for link in truth if draw.random() < 0.85}
            if draw.random() < 0.4:
                links[draw.randrange(source), draw.randrange(target)] = draw.random() < 0.5
            state = State.DONE if draw.random() < 0.95 else State.DOUBTFUL
            said = tuple(sorted(Link(i, j, None, sure) for (i, j), sure in links.items()))
            opened.put(name, number, Annotation(said, state))
        opened.put("Cleo", number, Annotation(tuple(truth), State.OPEN))
    opened.close()
    return Project.read(folder / "two")


def cells(project: Project, name: str, number: int) -> list[int]:
    pair, linked = project.pairs[number].pair, project.annotations[name][number].alignment.pairs
    return [int((i, j) in linked) for i in range(len(pair.source)) for j in range(len(pair.target))]


def symmetric_aer(project: Project, numbers: list[int]) -> float:
    """Each annotator once as gold, with links that nltk takes as names of words in the whole text."""
    sides = []
    for name in ("Ann", "Ben"):
        said = [(number, link) for number in numbers for link in project.annotations[name][number].links]
        named = [(((number, link.source), (number, link.target)), link.sure) for number, link in said]
        sides.append(({cell for cell, _ in named}, {cell for cell, sure in named if sure}))
    (first, first_sure), (second, second_sure) = sides
    weights = (len(second) + len(first_sure), len(first) + len(second_sure))
    rates = (
        alignment_error_rate(first_sure, second, possible=first),
        alignment_error_rate(second_sure, first, possible=second),
    )
    return 100 * float(np.average(rates, weights=weights))


def test_agreement_is_that_of_others(project):
    numbers = finished_by_both(project, "Ann", "Ben")
    assert 80 < len(numbers) < PAIRS
    first, second = ([cell for number in numbers for cell in cells(project, name, number)] for name in ("Ann", "Ben"))
    found = agreement_of(project, "Ann", "Ben")
    assert found.rates.kappa == pytest.approx(cohen_kappa_score(first, second))
    assert found.rates.f1 == pytest.approx(100 * f1_score(first, second))
    assert found.rates.aer == pytest.approx(symmetric_aer(project, numbers))


def test_intervals_are_those_of_scipy(project):
    numbers = np.array(finished_by_both(project, "Ann", "Ben"))
    known = {name: {number: cells(project, name, number) for number in numbers.tolist()} for name in ("Ann", "Ben")}

    def kappa(drawn) -> float:
        sides = ([cell for number in drawn.tolist() for cell in known[name][number]] for name in ("Ann", "Ben"))
        return cohen_kappa_score(*sides)

    options = {"vectorized": False, "n_resamples": 500, "method": "percentile", "rng": 3}
    expected = bootstrap((numbers,), kappa, **options).confidence_interval
    low, high = agreement_of(project, "Ann", "Ben").interval
    assert (low.kappa, high.kappa) == pytest.approx(tuple(expected), abs=0.01)


def test_the_settled_gold_scores_as_it_must(project):
    """Every disagreement is settled with Cleo's truth; the gold is hers there, and everybody's elsewhere."""
    numbers = finished_by_both(project, "Ann", "Ben")
    disputed = [numbers[place] for place in agreement_of(project, "Ann", "Ben").disagreements]
    settled = {number: Annotation(project.annotations["Cleo"][number].links, State.DONE) for number in disputed}
    found = confirmed_gold({**project.annotations, "adjudicated": settled})
    gold = {number: GoldAlignment.of(alignment.links) for number, alignment in found.items()}
    assert set(gold) >= set(numbers)
    for number in numbers:
        author = "Cleo" if number in disputed else "Ann"
        assert gold[number] == GoldAlignment.of(project.annotations[author][number].links)
    systems = [Alignment(tuple(project.annotations["Ben"][number].links)) for number in numbers]
    sure, possible, linked = (
        {((number, i), (number, j)) for number, links in zip(numbers, each, strict=True) for i, j in links}
        for each in (
            [gold[number].sure for number in numbers],
            [gold[number].possible for number in numbers],
            [system.pairs for system in systems],
        )
    )
    expected = 100 * alignment_error_rate(sure, linked, possible=possible)
    assert score([gold[number] for number in numbers], systems).rates.aer == pytest.approx(expected)
    assert 0 < expected < 40
