"""Models outside Python: ONNX run by onnxruntime, and skops; skipped where they are missing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mcsvm_lit
from mcsvm_lit.scale.export import SUPPORTED, to_onnx

CLASSIFIERS = [
    "CrammerSingerSVC",
    "KernelLogisticRegression",
    "TwinMarginSVC",
    "CrammerSingerSVCCV",
    "TwinMarginSVCCV",
    "TwinKSVC",
    "TwinKSVCCV",
    "TruncatedHingeSVC",
    "SVMProbabilityClassifier",
]


def shape_of(value):
    """The shape that a graph declares for an input or output."""
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


def executed(model, X):
    """What onnxruntime computes from the written model, by name."""
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    written = to_onnx(model)
    shapes = {v.name: shape_of(v) for v in [*written.graph.input, *written.graph.output]}
    assert shapes.pop("X") == ["n", X.shape[1]] and shapes.pop("label") == ["n"]
    assert all(shape == ["n", len(model.classes_)] for shape in shapes.values())
    session = runtime.InferenceSession(written.SerializeToString())
    return dict(zip((o.name for o in session.get_outputs()), session.run(None, {"X": X})))


def with_settings(name, kernel):
    """A classifier with a kernel, not too slow, with those of its parameters that it has."""
    model = getattr(mcsvm_lit, name)()
    wanted = dict(kernel=kernel, gamma=0.05, degree=2, C=0.3, tol=1e-2, nu=0.3, cv=3)
    if name == "CrammerSingerSVCCV":
        wanted["C"] = 0.1, 0.5  # between which it chooses
    return model.set_params(**{k: v for k, v in wanted.items() if k in model.get_params()})


@pytest.mark.parametrize("labels", ["numbers", "words", "two"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("name", SUPPORTED)
def test_onnx_says_what_the_classifier_says(name, kernel, labels):
    X, y = load_iris(return_X_y=True)
    if labels == "two":
        X, y = X[y > 0], y[y > 0]
    y = np.array(["a", "b", "c"])[y] if labels == "words" else y
    model = make_pipeline(StandardScaler(), with_settings(name, kernel)).fit(X, y)
    Z = X + np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    out, f = executed(model, Z), model.decision_function(Z)
    assert_array_equal(out["label"], model.predict(Z))
    F = out["scores"]
    assert_allclose(F[:, 1] - F[:, 0] if f.ndim == 1 else F, f, rtol=0, atol=1e-5)
    if hasattr(model, "predict_proba"):
        assert_allclose(out["probabilities"], model.predict_proba(Z), rtol=0, atol=1e-5)


def test_onnx_of_many_classes():
    X, y = load_digits(return_X_y=True)
    model = mcsvm_lit.KernelLogisticRegression(tol=1e-2).fit(X[:300], y[:300])
    out = executed(model, X[300:500])
    assert_allclose(out["probabilities"], model.predict_proba(X[300:500]), rtol=0, atol=1e-5)


@pytest.mark.parametrize("scheme", ["pairwise", "one-vs-rest"])
def test_onnx_of_machines_for_two_classes(scheme):
    X, y = load_digits(return_X_y=True)
    model = mcsvm_lit.SVMProbabilityClassifier(scheme=scheme, n_weights=8).fit(X[:300], y[:300])
    out = executed(model, X[300:500])
    assert_allclose(out["probabilities"], model.predict_proba(X[300:500]), rtol=0, atol=1e-5)
    assert_array_equal(out["label"], model.predict(X[300:500]))


@pytest.mark.parametrize("rule", ["distance", "signed", "vote", "nearest", "paper", "threshold"])
def test_onnx_knows_every_rule_of_the_twins(rule):
    X, y = load_iris(return_X_y=True)
    if rule in ("nearest", "paper", "threshold"):
        model = mcsvm_lit.TwinKSVC(decision=rule)
    else:
        model = mcsvm_lit.TwinMarginSVC(nu=0.2, decision=rule)
    Z = X + np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    out = executed(model.fit(X, y), Z)
    assert_array_equal(out["label"], model.predict(Z))
    assert_allclose(out["scores"], model.decision_function(Z), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_skops_stores_every_classifier(name, tmp_path):
    skops = pytest.importorskip("skops.io")
    X, y = load_iris(return_X_y=True)
    model = getattr(mcsvm_lit, name)().fit(X, y)
    skops.dump(model, tmp_path / "model.skops")
    types = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(t.startswith(("mcsvm_lit.", "sklearn.", "numpy.")) for t in types), types
    again = skops.load(tmp_path / "model.skops", trusted=types)
    assert_array_equal(again.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))
