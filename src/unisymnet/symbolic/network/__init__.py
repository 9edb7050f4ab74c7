"""The paper's network: unified operators, structures, labels, skeletons."""
