"""Pages from measured numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from l2t.inference.comparison import TransferStudy
from reproduction.pages import online, write_page
from reproduction.pages.inference import summary


@pytest.fixture
def study():
    rows = np.array([[1.1, 1.0, np.nan], [1.3, 1.2, np.nan], [1.2, 1.4, np.nan]])
    return TransferStudy(
        names=("gfk", "tca"),
        label_counts=(3, 15, 120),
        base=np.stack([rows + np.array([[0.1], [0.0], [0.0]]), rows - 0.5]),
        l2t=rows,
        always=rows - 0.1,
        transferred=np.array([[1.0, 0.5, np.nan]] * 3),
        predicted=rows,
        original=rows,
    )


def test_l2t_is_compared_with_the_best_base_algorithm(study):
    best = summary(study)["best"]
    assert [name for name, _ in best] == ["gfk", "gfk", "gfk"]
    for at in range(2):
        expected = ttest_rel(study.l2t[:, at], study.base[0, :, at]).pvalue
        assert best[at][1] == pytest.approx(expected)


def test_the_page_of_inference(study, tmp_path):
    told = summary(study)
    plans = {
        "label_counts": [3, 15],
        "candidates": [
            {"constraint": "soft", "n_iter": 1, "power": 1.5, "ratios": [1.1, 1.2]},
            {"constraint": "grassmann", "n_iter": 3, "n_components": 20, "ratios": [1.0, 1.0]},
        ],
    }
    write_page(
        tmp_path / "inference.md",
        minutes=9.4,
        jobs=2,
        pairs=3,
        trained={"digits": 60, "photo-sketch": 60},
        validation=24,
        studies={"digits": told},
        plans=plans,
        chosen=[],
        verdict_counts=(15, 120),
        verdicts={"always transfer": [[1.25, np.nan]]},
    )
    text = (tmp_path / "inference.md").read_text()
    p = [value for _, value in told["best"]]
    table = f"""## digits, 3 testing pairs

| labels | 3 | 15 | 120 |
|---|---|---|---|
| GFK | 1.233 | 1.233 | – |
| TCA | 0.700 | 0.700 | – |
| L2T's W, always | 1.100 | 1.100 | – |
| **L2T** | **1.200** ± 0.058 | **1.200** ± 0.115 | – |
| best base, p against it | GFK, p {p[0]:.0e} | GFK, p {p[1]:.0e} | – |
| predicted for W | 1.200 | 1.200 | – |
| verdict: transfer | 100 % | 50 % | – |

## The plans
"""
    assert table in text
    assert "| soft, 1 steps, power 1.5 | 1.100 | 1.200 |\n" in text
    assert "| grassmann, 3 steps, 20 columns | 1.000 | 1.000 |\n\nChosen" in text
    assert "| always transfer | 1.250 – |\n\n" in text
    assert "(60 of digits, 60 of photo-sketch; eight algorithms each)" in text
    assert "in 9 minutes" in text


def test_the_page_of_streams_needs_no_drift(tmp_path, monkeypatch, small_pairs):
    """Without data there are digits alone, and no change of kind."""
    monkeypatch.setattr(online, "draw_pairs", lambda family, part, n, *_, **__: small_pairs(n))
    for name in ("TRAIN", "PRACTICE_PAIRS", "VALIDATION"):
        monkeypatch.setattr(online, name, 3)
    online.write_online(None, tmp_path / "out", tmp_path / "work", 40, 1)
    text = (tmp_path / "out" / "online.md").read_text()
    assert "## 40 pairs of digits\n\n![" in text
    assert "| digits | 3 labels | 15 labels |" in text
    assert (tmp_path / "out" / "online-stream.png").exists()
    assert "\n\n\n" not in text
