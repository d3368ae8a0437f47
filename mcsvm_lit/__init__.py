"""Multiclass large-margin classification, derived, implemented, certified and measured in notebooks.

The classifiers, the exact paths and what belongs to them can be imported from here, as in
`from mcsvm_lit import CrammerSingerSVC, twin_path`; everything else from its chapter, as in
`from mcsvm_lit.core import Kernel`. A name is loaded when it is first asked for, so that importing
the package costs next to nothing.
"""

from importlib import import_module

__version__ = "0.1.0"

# What the package offers, by the module that defines it. What outgrows memory or one computer is
# offered by `mcsvm_lit.scale` alone: such a fit depends, within its gap, on how rows are cut.
_PUBLIC = {
    "core.certificates": ["Certificate"],
    "core.displays": ["CertificateDisplay", "DecisionRegionsDisplay"],
    "crammer_singer.hard_margin": ["InseparableError"],
    "crammer_singer.classifier": ["CrammerSingerSVC"],
    "crammer_singer.ranking": ["LabelRankingSVC"],
    "crammer_singer.multiclass": ["MulticlassSVC"],
    "crammer_singer.path_in_c": ["c_path"],
    "crammer_singer.selection": ["CrammerSingerSVCCV"],
    "kernel_logistic.sparse": ["sparse_klr"],
    "kernel_logistic.classifier": ["KernelLogisticRegression"],
    "kernel_logistic.gaussian_process": ["laplace"],
    "twin_margin.path_in_nu": ["nu_path"],
    "twin_margin.path_in_radius": ["robust_path"],
    "twin_margin.classifier": ["TwinMarginSVC"],
    "twin_margin.selection": ["TwinMarginSVCCV"],
    "twin_ksvc.path_in_lambda": ["twin_path"],
    "twin_ksvc.surface": ["twin_surface"],
    "twin_ksvc.path_in_epsilon": ["epsilon_path"],
    "twin_ksvc.classifier": ["TwinKSVC"],
    "twin_ksvc.selection": ["TwinKSVCCV"],
    "probability.path_in_weights": ["pi_path"],
    "probability.regions": ["pi_regions"],
    "probability.truncated_classifier": ["TruncatedHingeSVC"],
    "probability.classifier": ["SVMProbabilityClassifier"],
    "probability.any_classifier": ["WeightedVoteClassifier"],
    "scale.export": ["to_onnx"],
}

# What a chapter offers beside those of its own modules.
_FURTHER = {
    "core.boxqp": ["box_program", "solve_boxqp"],
    "core.certificates": [
        "KKT",
        "distance_to_optimum",
        "gap_rounding",
        "relative_gap",
        "score_rounding",
    ],
    "core.estimators": ["KernelClassifier"],
    "core.kernel_rows": ["KernelRows"],
    "core.kernels": ["Kernel"],
    "core.landmarks": ["LandmarkFit", "LandmarkSpan", "choose_landmarks", "fit_landmarks"],
    "core.losses": ["Costs", "Hinge", "Loss", "Softmax", "loss_certificate", "loss_values"],
    "core.paths": ["ExactPath", "PathKKT"],
    "core.semidefinite": ["pivoted_cholesky"],
    "core.solving": ["Effort", "Goal", "Problem", "Solution", "Strategy", "solve"],
    "core.training": ["Training", "folds_of", "gather"],
    "crammer_singer.problem": ["CrammerSinger", "score_radius"],
    "crammer_singer.kernel_solver": ["solve_kernel"],
    "crammer_singer.linear_problem": ["LinearCrammerSinger"],
    "crammer_singer.proximal_newton": ["solve_linear"],
    "crammer_singer.costs": ["cost_table", "costs_cvxpy"],
    "crammer_singer.path_in_c": ["CPath"],
    "kernel_logistic.problem": ["klr_certificate", "klr_values"],
    "kernel_logistic.binary": ["BinaryLogistic"],
    "kernel_logistic.solvers": ["solve_klr"],
    "kernel_logistic.multinomial": ["SoftmaxLogistic"],
    "kernel_logistic.multinomial_solvers": ["solve_softmax"],
    "kernel_logistic.sparse": ["SparseKLR"],
    "kernel_logistic.gaussian_process": ["LaplaceProcess"],
    "twin_margin.problem": ["MarginPlane", "MarginProblem", "solve_margin"],
    "twin_margin.path_in_nu": ["NuPath", "nu_path_points"],
    "twin_margin.robust": ["RobustProblem", "solve_robust"],
    "twin_margin.path_in_radius": ["RobustPath"],
    "twin_margin.robust_kernels": ["kernel_radius", "solve_ball"],
    "twin_ksvc.problem": ["TwinPlane", "twin_certificate"],
    "twin_ksvc.path_in_lambda": ["TwinPath"],
    "twin_ksvc.surface": ["TwinSurface"],
    "twin_ksvc.kernel_planes": ["KernelPlane", "plane_certificate"],
    "twin_ksvc.path_in_epsilon": ["EpsilonPath"],
    "probability.problem": ["WeightedHinge", "hinge_certificate"],
    "probability.ascent": ["solve_hinge"],
    "probability.path_in_weights": ["PiPath"],
    "probability.regions": ["WeightRegions"],
    "probability.thresholds": ["positive_share", "solve_thresholds"],
    "scale.streamed": ["StreamedCrammerSingerSVC", "StreamedKernelLogisticRegression"],
}

_HOMES = {m: [*_PUBLIC.get(m, []), *_FURTHER.get(m, [])] for m in _PUBLIC | _FURTHER}


def offer(package):
    """Return `__all__`, `__getattr__` and `__dir__` for the `__init__.py` of `package`."""
    chapter = package.removeprefix(__name__).removeprefix(".")
    home = {
        name: f"{__name__}.{module}"
        for module, names in (_HOMES if chapter else _PUBLIC).items()
        if not chapter or module.startswith(f"{chapter}.")
        for name in names
    }

    def load(name):
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home[name]), name)

    return list(home), load, lambda: sorted(home)


__all__, __getattr__, __dir__ = offer(__name__)
