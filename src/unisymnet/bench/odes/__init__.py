"""ODEBench: systems found again from one trajectory or two, judged by what they predict and by their form."""
