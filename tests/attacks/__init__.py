"""What a hostile or unlucky world may hand to the package: names, strings, files, JSON, numbers.

Shared by the tests, which draw a small fixed sample, and by benchmarks/faults.py, which runs for hours.
"""
