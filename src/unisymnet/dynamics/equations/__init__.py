"""A system of differential equations as a user holds it; knows neither data nor search."""
