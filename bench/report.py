"""Everything that is made from bench/results: the tables between markers in docs/performance.md, the plots beside it."""
import plots
import tables


def write_all():
    plots.write()
    tables.write()
