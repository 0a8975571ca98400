"""Calculations that back answers: described once in a literal table, run in-process within limits.

types        Parameter, Result, Check, Outcome: the values
values       text or TOML -> a typed, ranged argument; what is wrong with it in one sentence
quantization, half, activation_tables, integers, recurrent, memory, speed, compare, preprocess,
convert      the functions, plain and pure, over simcore
arrays       the files a comparison was given, read without ever unpickling
table        the one table: every check with its titles, parameters and results
run          arguments -> Outcome, within a time limit
fence        `toml check` blocks of an entry -> Outcome with pass, fail or skip
read, find   numbers in a question -> arguments; a question -> its check
"""
