"""What a log says: codes, and what they mean.

types        Meaning, Found: the values
spelling     one spelling of a code -> its key: decimal, hex, signed, E-code
table        corpus/codes/*.tsv -> the meanings of a key, read when first asked for
codes        a code in any spelling -> its meanings on every platform; a text -> the codes in it
"""
