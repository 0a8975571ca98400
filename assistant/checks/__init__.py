"""Calculations that back answers: described once in a literal table, run in-process within limits.

types        Parameter, Result, Check, Outcome: the values
values       text or TOML -> a typed, ranged argument; what is wrong with it in one sentence
quantization, calibration, half, activation_tables, integers, recurrent, memory, speed, compare, preprocess
             the functions, plain and pure, over simcore
table        the one table: every check with its titles, parameters and results
run          arguments -> Outcome, within a time limit
show         an Outcome as a sentence, as rows of a table, as JSON
fence        `toml check` blocks of an entry -> Outcome with pass, fail or skip
read, find   numbers in a question -> arguments; a question -> its check
"""
