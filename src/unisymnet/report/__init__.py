"""What a person looks at after a fit: `report_html`, one page without network, and `plot`, the same in matplotlib.

Reads a fitted estimator, never changes it, and runs no search. Importing this loads no plotting library.
"""

from .page import report_html as report_html
from .plots import plot as plot
