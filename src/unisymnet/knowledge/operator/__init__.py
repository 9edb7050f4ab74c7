"""Own operators in a search: forms that hold them, and searches with their values as further inputs."""
