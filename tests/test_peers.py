"""scikit-learn's own tests of its classifiers, run with ours in their places.

The test files that scikit-learn installs are read, the name of a class of theirs is replaced by one
of ours, and the tests that use it become tests of this file. What is left out is the peer's own
business: `OTHERS` has the names of these tests, by the reason why they say nothing about us.
"""

import ast
import importlib.util
from fnmatch import fnmatch

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import mcsvm_lit
from mcsvm_lit import CrammerSingerSVC, KernelLogisticRegression

IGNORED = {  # what has no meaning for ours: chance, and how theirs are computed
    *("random_state", "n_jobs", "dual", "shrinking", "probability", "multi_class", "solver"),
}


def in_place(cls, **defaults):
    """Ours, called as the peer would be, at the peer's defaults."""

    def made(*args, **asked):
        known = {key: value for key, value in asked.items() if key not in IGNORED}
        return cls(*args, **defaults | known)

    return made


LINEAR = dict(kernel="linear", fit_intercept=True)
PAIRS = [  # the file, the peer, and who stands in its place
    ("svm.tests.test_svm", "SVC", in_place(CrammerSingerSVC, fit_intercept=True)),
    ("svm.tests.test_sparse", "SVC", in_place(CrammerSingerSVC, fit_intercept=True)),
    ("svm.tests.test_svm", "LinearSVC", in_place(CrammerSingerSVC, **LINEAR)),
    (
        "linear_model.tests.test_logistic",
        "LogisticRegression",
        in_place(KernelLogisticRegression, **LINEAR),
    ),
    (
        "gaussian_process.tests.test_gpc",
        "GaussianProcessClassifier",
        in_place(KernelLogisticRegression),
    ),
    ("tests.test_calibration", "LinearSVC", in_place(CrammerSingerSVC, **LINEAR)),
]
OTHERS = {  # patterns of names, by the reason why the tests say nothing about ours
    "parameters that ours do not have": (
        *("*decision_function", "*decision_function_shape*", "*break_ties*", "*tie_breaking*"),
        *("*clone_with_callable_kernel", "sparse_SVC_svc", "*_penalty_*", "*l1_*", "*elastic*"),
        *("*logreg_l1", "*_cv_refit", "*saga*", "*_linearsvc", "*_linearsvc_parameters"),
        *("*liblinear_intercept_handling", "*linearsvm_liblinear_sample_weight", "*not_stuck"),
        *("*_random_starts", "*_custom_optimizer", "*_lr_penalty_*", "*_c_inf_*"),
    ),
    "how a peer computes: its solvers, their steps, their warnings": (
        *("*n_iter*", "*convergence_warnings", "*timeout", "*dual_random_state", "*solver_option"),
        *(
            "*max_iter*",
            "*fallback_to_lbfgs",
            "*multiclass_raises",
            "*solvers_multiclass*",
            "*warns_with_n_jobs",
        ),
        *("*internal_representation", "*liblinear_with_large_values", "*callback_*"),
        *("*_array_api*", "*warning_bounds", "*liblinear*weight", "*equivalence_liblinear"),
        *("*newton_solver", "*parallel_execution", "*default_estimator"),
    ),
    "another problem, with other numbers at its solution": (
        *("*libsvm_parameters", "*_precomputed", "*tweak_params", "*SVC_weight", "*auto_weight"),
        *(
            "*_crammer_singer",
            "*glmnet",
            "*consistency_path",
            "*logistic_cv",
            "*CV_on_folds",
            "*cv_iris",
            "*multinomial_score",
        ),
    ),
    "probabilities: ours of margins have a classifier of their own": (
        *("*SVC_probability*", "*hasattr_predict_proba", "*probA_probB*", "*predict_proba_multi*"),
    ),
    "attributes that theirs have and ours have not": (
        *("*gamma_scale", "*immutable_coef*", "*sparsify", "*svc_iris", "*unsorted_indices"),
        *("*sparse_realdata", "*_lml_*", "*local_maximum", "*latent_mean_and_variance*"),
    ),
    "sentences with the peer's name or words in them": (
        *(
            "*nonfinite_params",
            "*SVC_unfitted",
            "*gpc_fit_error",
            "*inconsistent_prefit*",
            "*just_one_label",
        ),
    ),
    "negative weights, which are no weights": ("*negative_*weight*",),
    "a class whose weight is zero, which ours refuse in a sentence": ("*string_inputs",),
    "rows that are no numbers, or float32 throughout": ("*structured*", "*not_array*", "*dtype*"),
    "sparse rows after a dense fit, which ours take": ("*bad_input",),
    "indices of 64 bits, which ours need not": ("*large_sparse_matrix",),
}


def of_others(name):
    """Is the test of this name the peer's own business?"""
    return any(fnmatch(name, pattern) for patterns in OTHERS.values() for pattern in patterns)


@pytest.fixture
def global_random_seed():
    """The seed that scikit-learn's tests ask for."""
    return 42


class Replaced(ast.NodeTransformer):
    """Uses of a class, whether by its name or in its module, become uses of ours."""

    def __init__(self, peer):
        self.peer, self.found = peer, False

    def visit_Name(self, node):
        return self.ours(node) if node.id == self.peer else node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        return self.ours(node) if node.attr == self.peer else node

    def ours(self, node):
        self.found = True
        return ast.copy_location(ast.Name("Ours", node.ctx), node)


def borrowed(module, peer, ours):
    """The tests of a file that use a peer, with ours in its place: by their names; and fixtures."""
    source = importlib.util.find_spec(f"sklearn.{module}").origin
    with open(source, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    users, fixtures = [], []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            replaced = Replaced(peer)
            replaced.visit(node)
            if replaced.found and node.name.startswith("test_"):
                users.append(node.name)
            if any("pytest.fixture" in ast.unparse(d) for d in node.decorator_list):
                fixtures.append(node.name)
    space = {"Ours": ours, "__name__": f"sklearn.{module}", "__file__": source}
    exec(compile(tree, source, "exec"), space)
    return [{name: space[name] for name in names} for names in (users, fixtures)]


ALL = {}
for module, peer, ours in PAIRS:
    tests, fixtures = borrowed(module, peer, ours)
    place = f"{module.rsplit('_', 1)[-1]}_{peer}"
    ALL |= {f"{place}_{name.removeprefix('test_')}": test for name, test in tests.items()}
    globals().update(fixtures)
globals().update({f"test_{name}": test for name, test in ALL.items() if not of_others(name)})


def test_the_list_names_tests_that_exist():
    """No pattern is left over, and most of theirs that remain are run."""
    patterns = [pattern for patterns in OTHERS.values() for pattern in patterns]
    assert not [p for p in patterns if not any(fnmatch(name, p) for name in ALL)]
    assert sum(not of_others(name) for name in ALL) > 35


@pytest.mark.parametrize("name", mcsvm_lit.__all__)
def test_a_sparse_matrix_of_kernel_values_is_refused_in_a_sentence(name):
    cls = getattr(mcsvm_lit, name)
    if not hasattr(cls, "fit") or "kernel" not in cls().get_params():
        return
    K, y = csr_matrix(np.eye(6)), np.arange(6) % 2
    labels = np.eye(2)[y] if name == "LabelRankingSVC" else y
    with pytest.raises((TypeError, ValueError), match="dense data is required"):
        cls(kernel="precomputed").fit(K, labels)
    model = cls(kernel="precomputed").fit(K.toarray(), labels)
    assert (model.predict(K) == model.predict(K.toarray())).all()  # these need no factor
