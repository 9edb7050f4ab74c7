"""Sixty, forty, thirty-six and twenty laws of many fields, written down before any was run: chosen, or in the table?

    UNISYMNET_CLOCK=processor python benchmarks/fresh_laws.py --set forty --max-time 10 --out fresh.jsonl [--only orbit]

One to six inputs, 40 to 500 rows, 0.02 to 6 % noise: "e" relative to the spread of the clean target, "r" to each
value.  Judged as noise_laws.py does, which counts written exponents beyond 3 as constants.  The laws have been looked
at since (ADR 54, 55).  What is in the file is not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from noise_laws import has_form, rows_of
from unisymnet import UniSymNetRegressor
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse

# Name, law, constants that a fit has to find, ranges of the inputs, rows, noise, its kind.
SIXTY = (
("orifice","0.62*x0*sqrt(2*x1)",1,((0.1,2),(0.5,8)),60,.02,'e'),
("antoine-like","exp(9.1-1640/(x0+231))",3,((10,120),),40,.01,'r'),
("manning","0.84*x0**0.667*x1**0.5",3,((0.3,3),(0.001,0.05)),80,.03,'r'),
("bleaching","12.3*exp(-0.41*x0)+3.3",3,((0,10),),50,.02,'e'),
("two decays","8*exp(-1.9*x0)+3*exp(-0.22*x0)",4,((0,12),),120,.01,'e'),
("hall-petch","71+0.62/sqrt(x0)",2,((0.001,0.1),),40,.03,'e'),
("bragg","1.54/(2*sin(x0))",1,((0.2,1.2),),60,.01,'r'),
("rc gain","1/sqrt(1+(0.37*x0)**2)",1,((0.2,20),),60,.02,'e'),
("monod inhib","3.1*x0/(0.8+x0+0.11*x0**2)",3,((0.1,12),),70,.02,'e'),
("photosynth","22*tanh(0.083*x0)-1.7",3,((0,80),),60,.02,'e'),
("bacterial lag","6.8/(1+exp(3.4-0.62*x0))+0.4",4,((0,14),),60,.02,'e'),
("van't hoff","0.013*exp(0.069*x0)",2,((0,40),),50,.05,'r'),
("weber-fechner","2.7*ln(1+0.34*x0)",2,((0,60),),60,.03,'e'),
("species area","18.4*x0**0.26",2,((1,900),),50,.06,'r'),
("reynolds","x0*x1*x2/x3",0,((800,1200),(0.1,3),(0.01,0.2),(0.001,0.01)),150,.03,'r'),
("buoyancy","9.81*x0*(x1-x2)",1,((0.1,2),(900,1300),(200,800)),120,.03,'e'),
("series resist","x0+x1*x2/(x1+x2)",0,((1,20),(5,50),(5,50)),120,.02,'e'),
("doppler","x0*343/(343-x1)",1,((200,900),(-60,60)),100,.01,'e'),
("lens maker","1/((x0-1)*(1/x1-1/x2))",0,((1.3,1.9),(0.1,0.3),(0.5,1.5)),150,.02,'r'),
("projectile","x0**2*sin(2*x1)/9.81",1,((5,30),(0.1,1.4)),100,.02,'e'),
("projectile height","x0*x1-4.905*x1**2",1,((10,40),(0.1,2)),100,.02,'e'),
("gravity pair","6.67*x0*x1/x2**2",1,((1,9),(1,9),(1,5)),120,.05,'r'),
("coil","0.0126*x0**2*x1/x2",1,((10,90),(0.5,4),(1,9)),120,.03,'r'),
("stefan net","5.67*x0*(x1**4-x2**4)",1,((0.3,1),(3,7),(2,4)),150,.02,'e'),
("transformer loss","0.4+0.031*x0**2+0.0021*x1*x0",3,((1,20),(10,60)),100,.02,'e'),
("clearance","140*exp(-0.19*x0)*(x1/70)",2,((0,12),(50,110)),90,.04,'r'),
("bateman","14*(exp(-0.21*x0)-exp(-1.4*x0))",3,((0.1,20),),70,.02,'e'),
("hill two","9.4*x0**2.2/(4.1**2.2+x0**2.2)+0.6",4,((0.3,20),),80,.02,'e'),
("competitive","7.7*x0/(1.3*(1+x1/2.4)+x0)",3,((0.2,15),(0,10)),120,.02,'e'),
("gauss beam","0.8*sqrt(1+(x0/2.7)**2)",2,((0,12),),60,.01,'e'),
("damped","3.3*exp(-0.17*x0)*cos(2.4*x0)",3,((0,14),),120,.03,'e'),
("beats","2.1*cos(5.2*x0)*cos(0.37*x0)",3,((0,16),),200,.02,'e'),
("standing wave","1.9*sin(2.2*x0)*cos(3.1*x1)",3,((0,4),(0,4)),200,.03,'e'),
("travelling","1.4*sin(2.6*x0-3.9*x1+0.4)",4,((0,4),(0,4)),200,.05,'e'),
("malus","7.2*cos(x0)**2+0.3",2,((0,3.1),),60,.02,'e'),
("airy","1/(1+8.3*sin(x0)**2)",1,((0,6),),120,.02,'e'),
("fermi","1/(exp((x0-5.1)/0.43)+1)",2,((2,8),),70,.02,'e'),
("diode","0.012*(exp(x0/0.052)-1)",2,((0.0,0.32),),60,.03,'e'),
("langevin-like","3*x0/(1+sqrt(1+x0**2))",1,((0.1,9),),60,.01,'e'),
("morse","4.2*(1-exp(-1.3*(x0-1.1)))**2",3,((0.7,4),),80,.02,'e'),
("lennard","4*0.9*((1.2/x0)**12-(1.2/x0)**6)",2,((1.15,3),),80,.02,'e'),
("debye","8.1/(1+(0.6*x0)**2)+2.2",3,((0.1,12),),70,.02,'e'),
("relativistic","x0/sqrt(1-(x1/3)**2)",1,((1,5),(0.1,2.7)),100,.01,'r'),
("heat exch","x0*(1-exp(-0.46*x1))",1,((10,60),(0.2,8)),100,.02,'e'),
("cobb","1.8*x0**0.31*x1**0.64",3,((1,40),(1,60)),100,.05,'r'),
("interest","x0*(1+x1)**x2",0,((100,900),(0.01,0.12),(1,20)),120,.01,'r'),
("ackermann","x0/sqrt(x1**2+x0**2)",0,((0.5,5),(0.5,5)),100,.02,'e'),
("law of cosines","sqrt(x0**2+x1**2-2*x0*x1*cos(x2))",0,((1,5),(1,5),(0.2,2.9)),150,.02,'e'),
("triangle area","0.5*x0*x1*sin(x2)",0,((1,5),(1,5),(0.2,2.9)),120,.03,'e'),
("rocket","2.9*x0*ln(x1/x2)",1,((1,4),(5,30),(1,4)),120,.02,'e'),
("nernst","0.06*x0*ln(x1/x2)+0.4",2,((0.5,2),(0.1,9),(0.1,9)),120,.02,'e'),
("wind power","0.5*1.2*x0*x1**3*x2",1,((1,9),(3,12),(0.2,0.5)),100,.05,'r'),
("drag crossover","0.3*x0+0.9*x0**2",2,((0.1,5),),50,.04,'e'),
("nusselt","0.3+0.62*x0**0.5*x1**0.333",4,((10,900),(0.7,9)),100,.02,'e'),
("sellmeier","sqrt(1+1.04*x0**2/(x0**2-0.006))",2,((0.35,2),),60,.0002,'e'),
("tafel","0.31+0.118*ln(x0)",2,((0.01,10),),50,.03,'e'),
("mixing temp","(x0*x1+x2*x3)/(x0+x2)",0,((1,9),(10,40),(1,9),(50,90)),150,.01,'e'),
("bernoulli","x0+0.5*x1*x2**2",1,((50,200),(0.8,1.3),(3,18)),120,.02,'e'),
("terminal","sqrt(2*x0*9.81/(x1*x2))",1,((0.1,3),(0.9,1.4),(0.02,0.5)),120,.03,'r'),
("seasonal co2","312+1.3*x0+0.012*x0**2+2.8*sin(6.283*x0)",5,((0,20),),240,.01,'e'),
)  # fmt: skip
FORTY = (
("ping pong","9.3*x0*x1/(1.1*x1+2.7*x0+x0*x1)",3,((0.2,12),(0.2,12)),140,.02,'e'),
("holling 3","4.4*x0**2/(6.1+x0**2)",2,((0.1,14),),60,.03,'e'),
("ricker","3.1*x0*exp(-0.14*x0)",2,((0.2,25),),60,.04,'e'),
("beverton holt","x0*x1/(1+0.23*x1)",1,((0.5,4),(0.5,30)),100,.03,'e'),
("fresnel","((x0-x1)/(x0+x1))**2",0,((1.0,3.5),(1.0,3.5)),120,.02,'e'),
("compton","x0/(1+1.96*x0*(1-cos(x1)))",1,((0.1,2),(0.1,3.1)),120,.01,'e'),
("reduced mass","x0*x1/(x0+x1)",0,((0.5,9),(0.5,9)),80,.03,'e'),
("orbit","x0*(1-x1**2)/(1+x1*cos(x2))",0,((1,5),(0.1,0.7),(0,6.2)),200,.01,'e'),
("rlc impedance","sqrt(x0**2+(x1*x2-1/(x1*x3))**2)",0,((1,9),(1,5),(0.5,3),(0.05,0.4)),250,.01,'e'),
("butler volmer","0.37*(exp(12.1*x0)-exp(-12.1*x0))",2,((-0.2,0.2),),60,.02,'e'),
("bet","5.2*31*x0/((1-x0)*(1+30*x0))",2,((0.03,0.5),),50,.01,'e'),
("van genuchten","0.07+0.36/(1+(1.9*x0)**1.6)**0.375",4,((0.02,20),),70,.01,'e'),
("clausius","exp(13.2-2240/x0)",2,((280,370),),40,.02,'r'),
("debye length","0.304/sqrt(x0)",1,((0.001,0.5),),40,.03,'r'),
("poiseuille","3.14159*x0*x1**4/(8*x2*x3)",0,((100,900),(0.5,2),(0.5,3),(1,9)),200,.05,'r'),
("bernoulli","x0+0.5*1.2*x1**2",1,((90,110),(1,20)),80,.02,'e'),
("gaussian plume","x0/(2*3.14159*x1*x2)*exp(-x3**2/(2*x2**2))",0,((1,9),(1,8),(1,4),(0,6)),250,.02,'e'),
("breit wigner","2.3/((x0-4.4)**2+0.31)",3,((2,7),),80,.03,'e'),
("drude","8.8/(1+(0.21*x0)**2)",2,((0.5,30),),60,.03,'e'),
("plate capacitor","8.85*x0*x1/x2",1,((1,9),(0.1,2),(0.05,0.9)),100,.04,'r'),
("mirror","1/(1/x0-1/x1)",0,((1,3),(5,20)),80,.01,'r'),
("adiabatic","x0*(x1/x2)**1.4",1,((80,120),(1,6),(1,6)),120,.02,'r'),
("escape","sqrt(2*6.67*x0/x1)",0,((1,9),(1,9)),80,.02,'e'),
("coulomb screened","4.2*x0*exp(-x1/1.7)/x1",2,((1,5),(0.3,6)),100,.02,'e'),
("logistic map carry","0.62*x0*(1-x0/x1)",1,((1,40),(50,120)),100,.03,'e'),
("sir incidence","0.41*x0*x1/(x0+x1+x2)",1,((10,90),(1,50),(1,60)),150,.03,'e'),
("heat index like","0.5*(x0+61+(x0-68)*1.2+0.094*x1)",4,((60,90),(20,90)),100,.01,'e'),
("tsiolkovsky","2.45*ln(1+x0/x1)",1,((1,30),(1,9)),80,.02,'e'),
("fringes","3.1*cos(2.9*x0/x1)**2",2,((0,5),(0.5,2)),200,.02,'e'),
("magnetic loop","6.28*x0*x1**2/(x1**2+x2**2)**1.5",1,((1,5),(0.5,2),(0,3)),180,.02,'e'),
("terminal","4.9*tanh(2.0*x0)",2,((0.02,2),),50,.02,'e'),
("strain hardening","412*x0**0.21+35",3,((0.01,0.4),),50,.01,'e'),
("photo voltage","1.24*x0-2.28",2,((2,9),),30,.03,'e'),
("vapour deficit","0.611*exp(17.3*x0/(x0+237))*(1-x1/100)",3,((5,40),(20,95)),120,.02,'e'),
("hyperbolic decay","1/(1/x0+0.083*x1)",1,((0.5,3),(0,40)),100,.02,'e'),
("torsion","x0*sin(3.4*x1)*exp(-0.29*x1)",2,((0.5,3),(0,9)),200,.02,'e'),
("kirchhoff split","x0*x2/(x1+x2)",0,((1,12),(10,90),(10,90)),100,.02,'e'),
("arrhenius two","x0*8.1*exp(-31/x1)",2,((1,5),(5,20)),100,.03,'r'),
("range drag","x0*x1-0.0049*x1**2*(1+x0**2)",1,((0.2,1.5),(5,60)),120,.02,'e'),
("relativistic sum","(x0+x1)/(1+x0*x1/9)",1,((0.1,2.8),(0.1,2.8)),100,.01,'e'),
)  # fmt: skip
# Of the nineteenth session: many are linear in a function of one input, with laws of the others as coefficients.
THIRTY_SIX = (
("mixed inhibition","9.1*x0/(1.7*(1+x1/2.2)+x0*(1+x1/8.5))",4,((0.3,15),(0,9)),140,.02,'e'),
("plane stress","(x0+x1)/2+(x0-x1)/2*cos(2*x2)",0,((10,90),(-40,40),(0,3.1)),150,.03,'e'),
("two beams","x0+x1+2*sqrt(x0*x1)*cos(x2)",0,((1,6),(1,6),(0,6.2)),150,.05,'e'),
("photon scattered","x0/(1+x0/0.511*(1-cos(x1)))",1,((0.05,3),(0.1,3.1)),120,.02,'r'),
("ellipse","x0*(1-x1**2)/(1+x1*cos(x2))",0,((1,8),(0.1,0.8),(0,6.2)),150,.02,'e'),
("trajectory","x0*tan(x1)-4.905*x0**2/(x2*cos(x1))**2",1,((1,12),(0.2,1.1),(9,20)),200,.02,'e'),
("triangle side","sqrt(x0**2+x1**2-2*x0*x1*cos(x2))",0,((1,7),(1,7),(0.2,3)),120,.03,'e'),
("ion activity","-1.17*x0**2*sqrt(x1)/(1+1.31*sqrt(x1))",2,((1,3),(0.001,0.5)),80,.02,'e'),
("cantilever","x0*x1**3/(3*x2)+x3*x1**4/(8*x2)",2,((1,9),(1,4),(20,90),(0.5,3)),160,.02,'e'),
("moving source","x0*(340+x1*cos(x2))/340",1,((200,900),(5,60),(0,3.1)),120,.01,'e'),
("mixing temperature","(x0*x1+x2*x3)/(x0+x2)",0,((1,5),(10,90),(1,5),(10,90)),120,.02,'e'),
("cooling mass","x0+(x1-x0)*exp(-0.21*x2)",1,((5,25),(50,95),(0,15)),120,.02,'e'),
("diode bridge","x0-x1*ln(1+x2/0.3)",1,((3,9),(0.2,1.5),(0.1,8)),120,.02,'e'),
("wind chill like","13.1+0.62*x0-11.4*x1**0.16+0.4*x0*x1**0.16",5,((-30,5),(5,60)),150,.01,'e'),
("heat index","x0*(1+0.21*x1**2)/(1+0.5*x1)",2,((1,9),(0.2,4)),100,.02,'e'),
("clock on a train","(x0-x1*x2/9)/sqrt(1-x1**2/9)",2,((1,9),(0.3,2.5),(1,9)),150,.01,'e'),
("capillary rise","2*x0*cos(x1)/(9.81*x2*x3)",1,((0.02,0.08),(0.1,1.3),(700,1100),(0.0005,0.003)),150,.03,'r'),
("bose mode","x0/(exp(0.8*x0/x1)-1)",1,((0.5,5),(0.5,4)),120,.02,'e'),
("heat capacity of a mode","(x0/x1)**2*exp(x0/x1)/(exp(x0/x1)-1)**2",0,((0.5,6),(0.5,4)),120,.02,'e'),
("magnet","x0*tanh(1.3*x1/x2)",1,((1,5),(0.2,4),(0.5,4)),120,.02,'e'),
("drag and lift","0.6*x0**2*(0.03+0.11*x1**2)",2,((5,40),(0.1,1.6)),100,.02,'e'),
("lens power","(x0-1)*(1/x1+1/x2)",0,((1.3,1.9),(0.1,0.9),(0.1,0.9)),100,.02,'e'),
("thermocouple","0.041*(x0-x1)+0.000031*(x0**2-x1**2)",2,((50,400),(0,40)),100,.01,'e'),
("airfoil moment","x0*x1**2*(0.02+0.09*sin(x2))",2,((0.9,1.3),(10,50),(-0.3,1.2)),150,.03,'e'),
("logistic dose","x0/(1+(x1/3.1)**1.8)",2,((10,90),(0.2,20)),120,.03,'e'),
("spring pendulum energy","0.5*x0*x1**2+x0*9.81*x2*(1-cos(x3))",1,((0.2,2),(0.5,4),(0.3,2),(0.1,2.5)),180,.02,'e'),
("tax","0.07*x0+0.31*max(x0-20,0)",3,((1,60),),80,.02,'e'),
("ph buffer","4.76+ln(x0/x1)/ln(10)",2,((0.01,0.5),(0.01,0.5)),80,.005,'e'),
("vapour deficit","0.611*exp(17.3*x0/(x0+237))*(1-x1)",3,((0,40),(0.1,0.95)),120,.02,'r'),
("steel fatigue","890*x0**-0.12*(1-x1/600)",3,((1000,1000000),(0,300)),90,.02,'r'),
("evaporation","(0.4*x0+1.1*x1)/(x0+0.67)",3,((0.3,5),(0.2,4)),120,.02,'e'),
("rope on a drum","x0*exp(0.3*x1)",1,((1,40),(0.2,9)),80,.03,'r'),
("sun height","asin(0.62*sin(x0)+0.78*cos(x0)*cos(x1))",2,((-0.4,0.4),(-1.5,1.5)),150,.01,'e'),
("gravity well","x0**2/2-4.1/x1",2,((0.5,4),(0.4,5)),80,.02,'e'),
("ion channel","2.3*(x0+77)/(1+exp(-(x0+31)/6.2))",4,((-90,40),),100,.02,'e'),
("price index","x0**0.4*x1**0.6",2,((1,9),(1,9)),80,.02,'r'),
)  # fmt: skip
# Four to six inputs, most of them factors of a power law around a core of two or three.
TWENTY = (
("heat exchanger","x0*x1*(x2-x3)*(1-exp(-x4/x5))",0,((0.5,4),(3,5),(60,95),(10,40),(0.5,6),(1,3)),300,.04,'e'),
("fringing","8.85*x0*x1/x2*(1+0.44*x2/x3)",2,((1,6),(0.5,4),(0.2,3),(0.5,3)),250,.03,'e'),
("deep beam","0.333*x0*x1**3/(x2*x3)*(1+0.7*x4**2/x1**2)",2,((1,9),(1,4),(1,5),(0.5,3),(0.3,2.5)),300,.05,'e'),
("thermal exchange","5.67*x0*x1*((x2/100)**4-(x3/100)**4)",1,((0.2,1),(0.5,4),(400,900),(280,600)),300,.05,'e'),
("dipole off axis","x0*x1*sqrt(x3**2+x4**2)/x2**4",0,((1,5),(0.5,3),(1,4),(0.5,4),(0.5,4)),300,.05,'e'),
("driven oscillator","x0/(x1*sqrt((x2**2-x3**2)**2+(x4*x3)**2))",0,((1,5),(0.5,3),(2,4),(0.5,6),(0.5,2)),500,.03,'e'),
("inhibited enzyme","x0*x1*x2/(x2+x3*(1+x4/x5))",0,((1,9),(0.2,2),(0.2,9),(0.5,3),(0.1,5),(0.3,2)),400,.05,'e'),
("metabolism","4.1*x0**0.75*exp(-0.65*x1)*x2/(x2+2.1)",4,((0.5,90),(1.5,4),(0.2,12)),300,.06,'r'),
("entry length","0.023*x0**0.8*x1**0.4*x2/x3*(1+(x3/x4)**0.7)",3,((1,20),(0.7,9),(0.1,0.7),(0.01,0.1),(0.1,3)),
400,.04,'r'),
("planck many","x0*x1**3/(exp(x2*x1/x3)-1)",0,((0.5,4),(1,6),(0.5,2),(0.5,3)),300,.05,'e'),
("discharge","0.61*x0*x1*sqrt(2*(x2-x3)/x4)",1,((0.5,2),(0.2,3),(4,9),(0.5,3.5),(0.7,1.4)),250,.04,'e'),
("softened gravity","x0*x1*x2/(x3**2+x4**2)**1.5",0,((0.5,2),(1,6),(1,6),(0.5,4),(0.5,2)),400,.05,'e'),
("torque balance","x0*x1*sin(x2)-0.35*x3*x4",1,((1,8),(0.2,2),(0.1,1.5),(1,6),(0.5,3)),250,.04,'e'),
("tunnel current","x0*x1/x2*exp(-1.03*x2*sqrt(x3))",1,((0.5,3),(0.2,2),(0.5,4),(1,6)),300,.05,'r'),
("shell buckling","0.92*x0*(x1/x2)**2.5*x2/x3",2,((50,210),(0.5,4),(20,90),(50,300)),250,.08,'r'),
("two plates","x0*x1*(x2-x3)/(x4/0.8+x5/0.04)",2,((0.5,4),(1,6),(15,30),(-10,10),(0.05,0.4),(0.02,0.2)),400,.03,'e'),
("radiation dose","x0*x1*exp(-0.11*x2)/(12.6*x3**2)",2,((1,9),(0.2,1.5),(0.5,20),(0.5,4)),300,.05,'e'),
("relativistic beam","x0*x1**2/sqrt(1-(x2/x3)**2)",0,((1,5),(0.5,3),(0.5,2.4),(3,4)),300,.03,'e'),
("mixing length","0.16*x0*x1**2*(1-exp(-x1/26))**2*x2**2",2,((0.8,1.3),(2,90),(0.5,4)),300,.05,'e'),
("signal and noise","x0*x1*sqrt(x2)/sqrt(x0*x1+2.3*x3)",1,((0.5,9),(0.2,2),(1,60),(0.1,6)),300,.04,'e'),
)  # fmt: skip
SETS = {"sixty": SIXTY, "forty": FORTY, "thirty-six": THIRTY_SIX, "twenty": TWENTY}


def run(laws: tuple, index: int, max_time: float) -> dict[str, object]:
    name, text, n_constants, ranges, n_rows, level, kind = laws[index]
    law, rng = parse(text), np.random.default_rng([0, 16, index])
    X = rows_of(law, ranges, n_rows, rng)
    clean = evaluate(law, X)
    y = clean + level * (np.abs(clean) if kind == "r" else np.std(clean)) * rng.normal(size=n_rows)
    fresh = rows_of(law, ranges, 300, np.random.default_rng(99))
    began = time.process_time()
    model = UniSymNetRegressor(max_time=max_time, n_jobs=1).fit(X, y)
    seconds = time.process_time() - began
    chosen = has_form(model.formula_.expr, law, n_constants, fresh)
    listed = chosen or any(has_form(model[i].expr, law, n_constants, fresh) for i in range(len(model)))
    found = {"chosen": chosen, "listed": listed, "found": str(model.formula_), "processor": round(seconds, 2)}
    return {"law": name, "max_time": max_time, **found, "stopped": model.stopped_}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, default="sixty")
    parser.add_argument("--max-time", type=float, default=10.0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=[], metavar="LAW")
    options = parser.parse_args()
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    records = [json.loads(line) for line in lines]
    known = {record["law"] for record in records}
    laws = SETS[options.set]
    for index, (name, *_) in enumerate(laws):
        if name not in known and (not options.only or name in options.only):
            records.append(run(laws, index, options.max_time))
            with options.out.open("a") as file:
                file.write(json.dumps(records[-1]) + "\n")
            print(json.dumps(records[-1]), flush=True)
    print(*(f"{key}={sum(r[key] for r in records)}" for key in ("chosen", "listed")), f"of={len(records)}")


if __name__ == "__main__":
    main()
