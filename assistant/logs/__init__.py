"""What a log says: bytes to lines, lines to records, codes and what they mean.

types        Meaning, Found: the values
unpack, decode, prefixes
a file, gzip too -> lines with their offsets in the original bytes; encodings, colours, prefixes
grammars, records
lines -> records: level, module, process, message; multi-line blocks kept together
spelling     one spelling of a code -> its key: decimal, hex, signed, E-code
table        corpus/codes/*.tsv -> the meanings of a key, read when first asked for
codes        a code in any spelling -> its meanings on every platform; a text -> the codes in it
"""
