"""The model y = sum_k c_k phi_k(theta) + phi_0(theta) on a table: values, best linear constants, slopes by theta.

The linear constants c are solved exactly at every theta (variable projection, Golub & Pereyra); the Jacobian by
theta is Kaufman's: the derivative at fixed c, projected off the columns phi.  Knows no steps (see levenberg.py).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import int64, njit
from numpy.typing import NDArray

from ...arrays import Floats
from .interpreter import backward, forward
from .least_squares import ONCE, PART, back_substitute, dot, orthogonalise, project_out

Ints = NDArray[np.int64]

# Places in Tape.layout.
N_FEATURES, N_REGISTERS, FIRST_THETA, N_FIXED, PHI_0, N_THETA, N_LINEAR = range(7)


class Program(NamedTuple):
    """What a kernel needs of a Tape, and where the two interpreters are."""

    forward: int
    backward: int
    code: Ints
    layout: Ints
    constants: Floats
    phi: Ints


class Data(NamedTuple):
    """A table by columns, X (d, n), the target, and square roots of the weights (or an empty array)."""

    X: Floats
    y: Floats
    root: Floats


class Space(NamedTuple):
    """Scratch memory of one fit; every array is as long as one data set and one program need."""

    work: Floats  # registers
    adj: Floats  # their adjoints
    Q: Floats  # orthogonal columns phi
    R: Floats
    z: Floats
    c: Floats  # linear constants
    r: Floats  # residuals, one row
    J: Floats  # orthogonal columns of the projected Jacobian
    S: Floats  # its triangle
    g: Floats  # residual along its columns
    scale: Floats  # largest length of each column so far
    T: Floats  # the triangle with damping
    t: Floats
    trial: Floats  # theta to try next
    step: Floats


@njit(**PART)
def stride_of(n: int) -> int:
    """Row length of the registers: whole cache lines, and an odd number of them against cache conflicts."""
    return (((n + 7) // 8) | 1) * 8


@njit(**ONCE)
def new_space(program: Program, n: int) -> Space:
    stride = stride_of(n)
    size = program.layout[N_REGISTERS] * stride
    p, m = program.layout[N_THETA], program.layout[N_LINEAR]
    return Space(
        work=np.empty(size),
        adj=np.empty(size),
        Q=np.empty((m, stride)),
        R=np.empty((m, m)),
        z=np.empty(m),
        c=np.empty(m),
        r=np.empty((1, stride)),
        J=np.empty((p, stride)),
        S=np.empty((p, p)),
        g=np.empty(p),
        scale=np.empty(p),
        T=np.empty((p, p)),
        t=np.empty(p),
        trial=np.empty(p),
        step=np.empty(p),
    )


@njit(**PART)
def fill(work: Floats, place: int, n: int, value: float) -> None:
    for i in range(n):
        work[place + i] = value


@njit(**PART)
def add(work: Floats, place: int, n: int, value: float) -> None:
    for i in range(n):
        work[place + i] += value


@njit(**PART)
def load(program: Program, X: Floats, work: Floats) -> None:
    """Columns, fixed numbers and everything that follows from them into the registers."""
    d, n = X.shape
    stride = stride_of(n)
    for j in range(d):
        for i in range(n):
            work[j * stride + i] = X[j, i]
    for k in range(program.constants.shape[0]):
        fill(work, (d + k) * stride, n, program.constants[k])
    forward(program.forward, program.code, int64(0), program.layout[N_FIXED], work, stride, n)


@njit(**PART)
def move(program: Program, theta: Floats, work: Floats, n: int) -> None:
    """Everything that depends on theta."""
    layout = program.layout
    stride = stride_of(n)
    for k in range(layout[N_THETA]):
        fill(work, (layout[FIRST_THETA] + k) * stride, n, theta[k])
    forward(program.forward, program.code, layout[N_FIXED], program.code.shape[0], work, stride, n)


@njit(**PART)
def predict(program: Program, c: Floats, work: Floats, values: Floats) -> None:
    """sum_k c_k phi_k + phi_0 at the registers' present contents."""
    n = values.shape[0]
    rest = program.layout[PHI_0] * stride_of(n)
    for i in range(n):
        values[i] = work[rest + i] if rest >= 0 else 0.0
    for k in range(c.shape[0]):
        place = program.phi[k] * stride_of(n)
        for i in range(n):
            values[i] += c[k] * work[place + i]


@njit(**PART)
def slopes(program: Program, c: Floats, work: Floats, adj: Floats, n: int, J: Floats) -> None:
    """J[k] = derivative of sum_k c_k phi_k + phi_0 by theta_k at the registers' present contents."""
    layout = program.layout
    stride = stride_of(n)
    moving = layout[FIRST_THETA]
    fill(adj, moving * stride, (layout[N_REGISTERS] - moving) * stride, 0.0)
    for k in range(program.phi.shape[0]):
        if program.phi[k] >= moving:
            add(adj, program.phi[k] * stride, n, c[k])
    if layout[PHI_0] >= moving:
        add(adj, layout[PHI_0] * stride, n, 1.0)
    backward(program.backward, program.code, layout[N_FIXED], moving, work, adj, stride, n)
    for k in range(layout[N_THETA]):
        place = (moving + k) * stride
        for i in range(n):
            J[k, i] = adj[place + i]


@njit(**PART)
def _columns(program: Program, first: int, last: int, root: Floats, space: Space, n: int) -> None:
    """Q[k] = root * phi_k."""
    Q, work = space.Q, space.work
    for k in range(first, last):
        place = program.phi[k] * stride_of(n)
        for i in range(n):
            Q[k, i] = work[place + i]
        if root.shape[0] > 0:
            for i in range(n):
                Q[k, i] *= root[i]


@njit(**ONCE)
def _target(program: Program, data: Data, space: Space, n: int) -> None:
    """r = root * (y - phi_0)."""
    r, work, y, root = space.r, space.work, data.y, data.root
    rest = program.layout[PHI_0] * stride_of(n)
    for i in range(n):
        r[0, i] = y[i]
    if rest >= 0:
        for i in range(n):
            r[0, i] -= work[rest + i]
    if root.shape[0] > 0:
        for i in range(n):
            r[0, i] *= root[i]


@njit(**ONCE)
def prepare(program: Program, data: Data, space: Space) -> int:
    """Load the table and make the columns phi that do not depend on theta orthogonal; returns how many."""
    n = data.y.shape[0]
    load(program, data.X, space.work)
    done = 0
    while done < program.phi.shape[0] and program.phi[done] < program.layout[FIRST_THETA]:
        done += 1
    _columns(program, int64(0), done, data.root, space, n)
    return done if orthogonalise(space.Q, space.R, int64(0), done, n) else -1


@njit(**ONCE)
def solve(program: Program, data: Data, n_done: int, theta: Floats, space: Space) -> float:
    """Residuals r with the best linear constants c at ``theta``; their sum of squares, inf if undefined."""
    n = data.y.shape[0]
    m = program.layout[N_LINEAR]
    move(program, theta, space.work, n)
    _columns(program, n_done, m, data.root, space, n)
    if not orthogonalise(space.Q, space.R, n_done, m, n):
        return np.inf
    _target(program, data, space, n)
    project_out(space.Q, m, space.r, int64(0), space.z, n)
    loss = dot(space.r, int64(0), space.r, int64(0), n)
    back_substitute(space.R, space.z, m, space.c)
    for k in range(m):
        if not abs(space.c[k]) < np.inf:
            return np.inf
    return loss if loss < np.inf else np.inf


@njit(**ONCE)
def linearise(program: Program, data: Data, c: Floats, space: Space) -> float:
    """The small problem |S s - g| for a step s of theta; returns |g|^2, the most that a step could gain."""
    n = data.y.shape[0]
    p, m = program.layout[N_THETA], program.layout[N_LINEAR]
    J, g, root = space.J, space.g, data.root
    slopes(program, c, space.work, space.adj, n, J)
    for k in range(p):
        if root.shape[0] > 0:
            for i in range(n):
                J[k, i] *= root[i]
        if not dot(J, k, J, k, n) < np.inf:
            # A slope may be infinite on a row at the edge of the domain; that row then says nothing.
            for i in range(n):
                J[k, i] = J[k, i] if abs(J[k, i]) < 1e100 else 0.0
        project_out(space.Q, m, J, k, space.z, n)
        space.scale[k] = max(space.scale[k], math.sqrt(dot(J, k, J, k, n)))
    if not orthogonalise(J, space.S, int64(0), p, n):
        return 0.0
    gain = 0.0
    for k in range(p):
        g[k] = dot(J, k, space.r, int64(0), n)
        gain += g[k] * g[k]
    return gain
