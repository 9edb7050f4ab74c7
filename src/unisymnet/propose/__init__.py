"""The proposers: each stage looks at a problem and puts formulas forward (one file a stage).

A stage is a frozen dataclass with ``name`` and ``propose(problem, front, *, rng, deadline)``, a generator of
``Proposal``s in the problem's scaled units.  Stages do not know each other's order, polish or judge.
"""
