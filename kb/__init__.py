"""Finds what is written: the corpus as entries, an index over them, and search by words and by meaning.

Flow: `parse` (Markdown file -> entries with byte spans) -> `passages` (entry -> what is indexed) ->
`build` (passages + embeddings -> `store` and `vectors`) -> `search` (question -> ranked hits with features) ->
`confidence` (features -> how sure).  `terms`, `glossary`, `identifiers` read words; `encode` turns text into vectors.
"""
