"""Calculations that back answers: described once in a literal table, run in-process within limits.

types        Parameter, Result, Check, Outcome: the values
values       text or TOML -> a typed, ranged argument; what is wrong with it in one sentence
quantization, calibration, half, activation_tables, integers, recurrent, memory, speed, compare, preprocess,
convert, model
             the functions, plain and pure, over simcore
arrays       the files a comparison was given, read without ever unpickling
rows/        for each of them the rows of the table: titles, parameters, results
table        the one table, joined
run          arguments -> Outcome, within a time limit
show, text   an Outcome as a sentence, as rows, as JSON; as Markdown
fence, proof `toml check` blocks of an entry -> Outcome with pass, fail or skip; those of an answer
units, numerals, tokens, scanner, quantities
             a text -> the quantities in it: numbers with units, shapes, lists, ranges, types, files
names, reading, beside, choosing, read
             a question and a check -> its arguments, what is missing and what is ambiguous
documents    the table as documents, to be searched like the corpus
asked, find  a question -> the check it asks for, computed
"""
