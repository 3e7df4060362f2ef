"""Base estimators that misbehave, each in one way; importable, so that workers can load them."""

import os
import signal
import sys
import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


def pid_after_a_moment():
    time.sleep(0.2)
    return os.getpid()


class Stump(ClassifierMixin, BaseEstimator):
    """The sign of the first column; what it does wrong is a method of a child."""

    def __init__(self, bad_mean=5.0, steps=()):
        self.bad_mean = bad_mean
        self.steps = steps

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.mean_ = float(X[:, 0].mean())
        if self.mean_ > self.bad_mean:  # about half of the blocks
            self.misbehave(X, y)
        return self

    def misbehave(self, X, y):
        self.bad_ = True

    def predict(self, X):
        return self.classes_[(X[:, 0] > self.mean_).astype(int) % len(self.classes_)]

    def predict_proba(self, X):
        return (self.predict(X)[:, np.newaxis] == self.classes_).astype(float)


class Raises(Stump):
    def misbehave(self, X, y):
        raise ArithmeticError("no convergence")


class Sleeps(Stump):
    def misbehave(self, X, y):
        time.sleep(3600)


class CallsExit(Stump):
    def misbehave(self, X, y):
        sys.exit(0)


class EndsItsProcess(Stump):
    def misbehave(self, X, y):
        os._exit(0)


class IsKilled(Stump):
    def misbehave(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


class ReturnsNothing(Stump):
    def fit(self, X, y):
        super().fit(X, y)


class WritesIntoItsRows(Stump):
    """Shifts what it is given, in place, and back never: fine with rows of its own."""

    def fit(self, X, y):
        X -= 1.0
        super().fit(X, y)
        y[:] = 0
        self.steps_ = X
        return self

    def predict(self, X):
        X -= 1.0
        return super().predict(X)


class ChangesItsParameters(Stump):
    """Each fit would begin where the last one ended, if they shared anything."""

    def fit(self, X, y):
        self.bad_mean += 1.0
        self.steps.append(len(X))
        if len(self.steps) > 1:
            raise RuntimeError("parameters of another block")
        return super().fit(X, y)


class _Answers(Stump):
    """Learns well, and predicts badly where a block's mean is high."""

    def predict(self, X):
        good = super().predict(X)
        return self.badly(good) if hasattr(self, "bad_") else good


class AnswersNaN(_Answers):
    def badly(self, good):
        return np.full(len(good), np.nan)


class AnswersOneRow(_Answers):
    def badly(self, good):
        return good[:1]


class AnswersTooMany(_Answers):
    def badly(self, good):
        return np.append(good, good)


class AnswersTwoColumns(_Answers):
    def badly(self, good):
        return np.column_stack([good, good])


class AnswersOtherLabels(_Answers):
    def badly(self, good):
        return np.where(good == 0, 0, 7)


class AnswersTexts(_Answers):
    def badly(self, good):
        return good.astype(str)


class KnowsOtherClasses(Stump):
    def misbehave(self, X, y):
        self.classes_ = np.array([0, 5])


class KnowsNoClasses(Stump):
    def misbehave(self, X, y):
        del self.classes_


class _Shares(Stump):
    def predict_proba(self, X):
        good = super().predict_proba(X)
        return self.badly(good) if hasattr(self, "bad_") else good


class SharesNaN(_Shares):
    def badly(self, good):
        return good * np.nan


class SharesInfinite(_Shares):
    def badly(self, good):
        return np.where(good > 0, np.inf, 0)


class SharesAboveOne(_Shares):
    def badly(self, good):
        return good * 1.5


class SharesOneColumn(_Shares):
    def badly(self, good):
        return good[:, :1]


class SharesOneRow(_Shares):
    def badly(self, good):
        return good[:1]


ASKED = {
    "AnswersNaN": "nan, which is not one of its classes",
    "AnswersOneRow": r"shape \(1,\) for 768 rows",
    "AnswersTooMany": r"shape \(1536,\)",
    "AnswersTwoColumns": r"shape \(768, 2\)",
    "AnswersOtherLabels": "7, which is not",
    "AnswersTexts": "which is not one of its classes",
}
SHARED = {
    "SharesNaN": "probability .*nan",
    "SharesInfinite": "probability .*inf",
    "SharesAboveOne": r"probability .*1\.5",
    "SharesOneColumn": r"shape \(768, 1\)",
    "SharesOneRow": r"shape \(1, 2\)",
}
