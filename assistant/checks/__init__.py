"""Calculations that back answers: described once in a literal table, run in-process within limits.

types        Parameter, Result, Check, Outcome: the values
values       text or TOML -> a typed, ranged argument; what is wrong with it in one sentence
quantization, half, activation_tables, integers, recurrent, memory, speed, compare, preprocess
             the functions, plain and pure, over simcore
table        the one table: every check with its titles, parameters and results
run          arguments -> Outcome, within a time limit
fence        `toml check` blocks of an entry -> Outcome with pass, fail or skip
units, numerals, tokens, scanner, quantities
             a text -> the quantities in it: numbers with units, shapes, lists, ranges, types, files
names, reading, beside, choosing, read
             a question and a check -> its arguments, what is missing and what is ambiguous
find         a question -> its check
"""
