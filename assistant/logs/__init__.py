"""What a log says: bytes to lines, lines to records, records to root causes; codes and what they mean.

types        the values: meanings of codes, evidence, findings, a diagnosis
gathering/   files, directories, archives, rotated sets -> sources of bytes
following/   a growing file or serial device -> its bytes as they come
unpack, decode, prefixes
             a file, gzip too -> blocks -> lines with their offsets in the original bytes; encodings, colours, prefixes
grammars, records
             lines -> records: level, module, process, message; multi-line blocks kept together
scan         blocks -> the few lines that matter, by one automaton over all texts that rules look for; bounded
facts        such a line -> what a rule sees: text, task, level, head of its record
rules, match corpus/rules/*.toml -> rules -> where the facts meet them
diagnose     facts and rules -> findings, the earliest cause of each task first; wrappers never
unknown      lines that look bad and that no rule knows, by their form
lint         whether rules are complete, tested, without conflict and without an idle condition
report       a diagnosis as text and as JSON
redaction/   private items -> placeholders
spelling     one spelling of a code -> its key: decimal, hex, signed, E-code
table        corpus/codes/*.tsv -> the meanings of a key, read when first asked for
codes        a code in any spelling -> its meanings on every platform; a text -> the codes in it
asked        the codes and log lines in a question -> what they mean
"""
