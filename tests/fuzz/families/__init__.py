"""Families of operators: a step adds a few nodes, as some exporter or tool would write them."""

from families import control, convolution, elementwise, folding, layout, microsoft, products, shapes, transformer, units

MODULES = {m.__name__.split(".")[-1]: m
           for m in (control, convolution, elementwise, folding, layout, microsoft, products, shapes, transformer, units)}
STEPS = {name: m.STEPS for name, m in MODULES.items()}
