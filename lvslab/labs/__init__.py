"""Guided labs: their format, the student's loop, and the instructor's proof that each lab teaches what it says.

A lab is a folder (docs/labs.md): a topology with something missing, texts in two languages, steps with checks,
predictions and hints, what a student would type, and mistakes with the check that each must trip.
"""
