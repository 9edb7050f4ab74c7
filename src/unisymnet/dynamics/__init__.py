"""Dynamics: from trajectories to differential equations one can simulate."""
