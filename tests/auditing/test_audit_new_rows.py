"""Pairs of samples that share rows: how many are new, and what then changes."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from replearn import SharedKey
from replearn.auditing import NewRowsDisplay, audit
from replearn.auditing._table import draw_pair, draw_rows, make_design

X, Y = make_classification(1500, flip_y=0.2, random_state=0)
TREE = DecisionTreeClassifier(max_depth=4)
KEY = SharedKey("new rows")


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("groups", [None, np.arange(1500) // 3])
def test_so_many_rows_are_new(share, groups):
    rows = draw_rows(1500, None, groups, KEY)
    design = make_design(1500, rows, n_pairs=3, key=KEY, new_rows=share)
    for pair in range(3):
        first, second = draw_pair(design, rows, KEY, pair)
        assert len(first) == len(second)
        n_new = round(share * design.train_size) * (1 if groups is None else 3)
        assert len(np.setdiff1d(second, first)) == n_new
        assert len(np.unique(second)) == len(second)
        assert not set(rows.test) & {*first, *second}


def test_all_rows_are_new_by_default():
    rows = draw_rows(1500, None, None, KEY)
    one, two = (
        make_design(1500, rows, n_pairs=2, key=KEY, **options) for options in ({}, {"new_rows": 1})
    )
    assert one == two
    assert (draw_pair(one, rows, KEY, 1)[1] == draw_pair(two, rows, KEY, 1)[1]).all()


def test_fewer_new_rows_change_fewer_predictions():
    """Bayes' rule hardly changes when one row in a hundred is new; a tree does."""
    options = {"contenders": ["baseline"], "n_pairs": 6, "sources": False, "n_jobs": 1}
    found = {
        share: audit(GaussianNB(), X, Y, new_rows=share, **options).flip_rate("baseline")
        for share in (0.01, 1.0)
    }
    assert found[0.01].upper < found[1.0].lower
    text = audit(TREE, X, Y, new_rows=0.01, **options).to_text(details=True)
    assert "is retrained with 1 % new rows" in text
    assert "samples of which 1 % are new" in text


def test_the_page_does_not_call_samples_disjoint_that_share_rows():
    options = {"n_pairs": 2, "shared_key": KEY, "contenders": ["baseline"], "sources": False}
    few = audit(GaussianNB(), X, Y, new_rows=0.02, **options).to_html()
    assert "a second one in which 2&nbsp;% of it were replaced" in few
    assert "two trainings on samples that differ in 2 % of the rows" in few
    assert "disjoint samples were drawn" not in few
    assert "two disjoint samples were drawn" in audit(GaussianNB(), X, Y, **options).to_html()


def test_several_shares_are_those_of_single_audits():
    options = {"n_pairs": 3, "n_jobs": 1, "contenders": ["baseline", "incumbent"], "sources": False}
    together = audit(GaussianNB(), X, Y, new_rows=[1.0, 0.1, 0.02], **options)
    assert [found.share for found in together.new_rows] == [0.02, 0.1, 1.0]
    for found in together.new_rows:
        alone = audit(GaussianNB(), X, Y, new_rows=found.share, **options)
        assert alone.new_rows == ()
        for name, flips in found.flips.items():
            np.testing.assert_array_equal(flips, alone[name].flips)
    # the report is that of the largest share
    whole = audit(GaussianNB(), X, Y, **options)
    assert together.flip_rate("incumbent") == whole.flip_rate("incumbent")


def test_shares_are_kept_in_the_folder_and_announced(tmp_path, capsys):
    options = {"n_pairs": 2, "n_jobs": 1, "contenders": ["baseline"], "resume": tmp_path}
    first = audit(TREE, X, Y, new_rows=[0.1, 1.0], **options)
    assert (
        "2 shares of new rows: 6 trainings of each contender instead of 4"
        in capsys.readouterr().err
    )
    again = audit(TREE, X, Y, new_rows=[0.1, 1.0], verbose=-1, **options)
    assert capsys.readouterr().err == ""
    assert again.to_json(timings=False) == first.to_json(timings=False)
    with pytest.raises(ValueError, match="not the same design"):
        audit(TREE, X, Y, new_rows=[0.2, 1.0], **options)


def test_the_curve_is_drawn_from_a_result():
    models = {"tree": TREE, "bayes": GaussianNB()}
    result = audit(models, X, Y, new_rows=[0.1, 1.0], n_pairs=2, n_jobs=1)
    display = NewRowsDisplay.from_result(result)
    frame = display.frame()
    assert frame["new_rows"].tolist() == [0.1, 1.0, 0.1, 1.0]
    assert frame["flip_estimate"][3] == result.flip_rate("bayes").value
    for text in (result.to_text(), result.to_html(), result.to_markdown()):
        assert "by the share of new rows" in " ".join(text.split())
    assert 'id="plot-new-rows"' in result.to_html()
    with pytest.raises(ValueError, match="one share of new rows"):
        NewRowsDisplay.from_result(audit(models, X, Y, n_pairs=2, n_jobs=1, sources=False))
    pytest.importorskip("matplotlib")
    assert display.plot().ax_.get_xlabel() == "share of new rows"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"new_rows": 0}, "new_rows"),
        ({"new_rows": 1.5}, "new_rows"),
        ({"new_rows": 0.0001}, "less than one"),
        ({"new_rows": [0.0001, 1.0]}, "less than one"),
        ({"new_rows": []}, "new_rows is empty"),
        ({"new_rows": 0.5, "sample": "bootstrap"}, 'requires sample="disjoint"'),
    ],
)
def test_shares_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        audit(TREE, X, Y, n_pairs=2, **options)
