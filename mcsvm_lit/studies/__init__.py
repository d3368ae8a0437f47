"""Data sets, figures, baselines and the runs that reproduce the papers; stands above all chapters."""
