"""Multiclass large-margin classification, derived, implemented, certified and measured in notebooks.

Every classifier and every public function of the chapters can be imported from here:
`from mcsvm_lit import CrammerSingerSVC, twin_path`. A name is loaded when it is first asked for,
so that importing the package costs next to nothing.
"""

from importlib import import_module

__version__ = "0.1.0"

# The public names, by the module that holds them. The package offers all of them, and each
# chapter those of its own modules.
_HOMES = {
    "core.boxqp": ["box_program", "solve_boxqp"],
    "core.certificates": [
        "Certificate",
        "KKT",
        "gap_rounding",
        "relative_gap",
        "score_rounding",
    ],
    "core.estimators": ["KernelClassifier"],
    "core.kernels": ["Kernel", "KernelRows", "pivoted_cholesky"],
    "core.landmarks": ["LandmarkFit", "LandmarkSpan", "choose_landmarks", "fit_landmarks"],
    "core.paths": ["ExactPath", "PathKKT"],
    "core.solving": ["Effort", "Goal", "Problem", "Solution", "Strategy", "solve"],
    "core.training": ["Training", "folds_of", "gather"],
    "crammer_singer.problem": [
        "Costs",
        "CrammerSinger",
        "cs_certificate",
        "cs_gaps",
        "cs_values",
        "score_radius",
    ],
    "crammer_singer.kernel_solver": ["solve_kernel"],
    "crammer_singer.linear_solver": ["LinearCrammerSinger", "solve_linear"],
    "crammer_singer.hard_margin": ["InseparableError"],
    "crammer_singer.costs": ["cost_table", "costs_cvxpy"],
    "crammer_singer.classifier": ["CrammerSingerSVC"],
    "crammer_singer.ranking": ["LabelRankingSVC"],
    "kernel_logistic.problem": ["klr_certificate", "klr_values"],
    "kernel_logistic.solvers": ["BinaryLogistic", "solve_klr"],
    "kernel_logistic.multinomial": ["SoftmaxLogistic", "solve_softmax"],
    "kernel_logistic.sparse": ["SparseKLR", "sparse_klr"],
    "kernel_logistic.classifier": ["KernelLogisticRegression"],
    "kernel_logistic.gaussian_process": ["LaplaceProcess", "laplace"],
    "twin_margin.problem": ["MarginPlane", "MarginProblem", "solve_margin"],
    "twin_margin.path_in_nu": ["NuPath", "nu_path", "nu_path_points"],
    "twin_margin.robust": ["RobustPath", "RobustProblem", "robust_path", "solve_robust"],
    "twin_margin.robust_kernels": ["kernel_radius", "solve_ball"],
    "twin_margin.classifier": ["TwinMarginSVC"],
    "twin_margin.selection": ["TwinMarginSVCCV"],
    "twin_ksvc.problem": ["TwinPlane", "twin_certificate"],
    "twin_ksvc.path_in_lambda": ["TwinPath", "twin_path"],
    "twin_ksvc.surface": ["TwinSurface", "twin_surface"],
    "twin_ksvc.kernel_planes": ["KernelPlane", "plane_certificate"],
    "twin_ksvc.path_in_epsilon": ["EpsilonPath", "epsilon_path"],
    "twin_ksvc.classifier": ["TwinKSVC", "TwinKSVCCV"],
    "probability.hinge": ["WeightedHinge", "hinge_certificate", "solve_hinge"],
    "probability.path_in_weights": ["PiPath", "pi_path"],
    "probability.regions": ["WeightRegions", "pi_regions"],
    "probability.truncated": ["TruncatedHingeSVC"],
    "probability.thresholds": ["positive_share", "solve_thresholds"],
    "probability.classifier": ["SVMProbabilityClassifier"],
    "scale.streamed": ["StreamedCrammerSingerSVC", "StreamedKernelLogisticRegression"],
    "probability.any_classifier": ["WeightedVoteClassifier"],
}

# What the package itself offers; what outgrows memory or a computer stays in `mcsvm_lit.scale`,
# since its fits depend on how the rows are cut into blocks, within the gap.
_EVERYWHERE = tuple(module for module in _HOMES if not module.startswith("scale."))


def offer(package):
    """`__all__`, `__getattr__` and `__dir__` for the `__init__.py` of `package`."""
    chapter = package.removeprefix(__name__).removeprefix(".")
    home = {
        name: f"{__name__}.{module}"
        for module, names in _HOMES.items()
        if module.startswith(f"{chapter}." if chapter else _EVERYWHERE)
        for name in names
    }

    def load(name):
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home[name]), name)

    return list(home), load, lambda: sorted(home)


__all__, __getattr__, __dir__ = offer(__name__)
