"""The shipped corpus is complete, consistent in both languages, sourced, and its vectors are current."""

import re
import tomllib
from collections import Counter

import numpy as np
import pytest

from kb import corpus, encode, identifiers, terms
from kb.parse import blocks, split_row
from kb.passages import passages_of
from kb.store import passage_hash
from kb.types import Entry
from tests.conftest import CORPUS

SOURCE = corpus.read(CORPUS)
ENTRIES = corpus.entries(SOURCE)
BY_ID = {(entry.id, entry.lang): entry for entry in ENTRIES}
PREFIXES = {"magicmind": "mm-", "nano": "nano-", "horizon": "j6-", "ascend": "ascend-", "rknn": "rknn-"}


def _rows(entry: Entry) -> list[list[str]]:
    return [split_row(block.text.rsplit("\n", 1)[1]) for block in blocks(entry) if block.is_row]


def test_twins_have_the_same_ids_order_and_sources() -> None:
    for path in SOURCE.documents:
        if path.endswith(".zh.md"):
            zh = [e for e in ENTRIES if e.span.file == path]
            en = [e for e in ENTRIES if e.span.file == path.replace(".zh.md", ".en.md")]
            assert [e.id for e in zh] == [e.id for e in en], path
            assert [(e.platform, e.kind, len(e.sources)) for e in zh] == [
                (e.platform, e.kind, len(e.sources)) for e in en
            ]


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.lang == "zh"], ids=lambda e: e.id)
def test_twins_have_tables_of_one_shape_and_the_same_commands(entry: Entry) -> None:
    twin = BY_ID[entry.id, "en"]

    assert [len(row) for row in _rows(entry)] == [len(row) for row in _rows(twin)]
    assert entry.text.count("```") == twin.text.count("```")
    assert set(re.findall(r"`(--[a-z][a-z_]+\b)(?!参)", entry.text)) == set(
        re.findall(r"`(--[a-z][a-z_]+\b)", twin.text)
    )


def test_ids_carry_their_platform() -> None:
    assert {e.platform for e in ENTRIES} == set(PREFIXES)
    assert [e.id for e in ENTRIES if not e.id.startswith(PREFIXES[e.platform])] == []


def test_no_phrasing_belongs_to_two_entries() -> None:
    owners: dict[str, set[str]] = {}
    for entry in ENTRIES:
        for phrase in (entry.title, *entry.asks):
            owners.setdefault(terms.phrase_key(phrase), set()).add(entry.id)

    assert {phrase: ids for phrase, ids in owners.items() if len(ids) > 1} == {}


def test_each_language_is_written_in_itself() -> None:
    for entry in ENTRIES:
        prose = re.sub(r"(?s)```.*?```|`[^`]*`", "", entry.text)
        chinese, latin = (len(re.findall(pattern, prose)) for pattern in (rf"[{terms.CJK}]", r"[A-Za-z]"))
        assert (chinese > 0.15 * latin) if entry.lang == "zh" else (latin > 2 * chinese), entry.id


def test_no_machine_paths_or_editor_leftovers() -> None:
    for path, data in {**SOURCE.documents, **SOURCE.resources}.items():
        assert not re.search(rb"/work/|/root/|\bTODO\b|\bTBD\b|\xef\xbf\xbd", data), path


def test_the_operator_list_has_63_rows_in_both_languages() -> None:
    vocabulary = identifiers.load_vocabulary("onnx_operators.toml", SOURCE.resources["onnx_operators.toml"])
    for lang in ("zh", "en"):
        (entry,) = [e for e in ENTRIES if e.complete == "onnx_operators" and e.lang == lang]
        rows = _rows(entry)
        assert [row[0] for row in rows] == [str(number) for number in range(1, 64)]
        assert len({vocabulary.canonical(row[1].strip("`")) for row in rows} - {None}) == 63
        assert Counter(row[2] for row in rows).most_common()[0][1] == 53


def test_the_typical_models_are_the_14_published_rows() -> None:
    expected = ["7.7", "7.2", "1.8", "1.1", "2.2", "1.2", "4.0", "2.9", "7.1", "0.5", "1.7", "107", "29", "15"]
    for lang in ("zh", "en"):
        text = "\n".join(" ".join(row) for row in _rows(BY_ID["nano-typical-models", lang]))
        assert re.findall(r"([\d.]+) ?ms", text) == expected


def test_the_materials_are_the_23_published_rows() -> None:
    for lang in ("zh", "en"):
        numbers = [cell for row in _rows(BY_ID["nano-materials-list", lang]) for cell in row if cell.isdigit()]
        assert numbers == [str(number) for number in range(1, 24)]


def test_the_sensitivity_table_is_complete() -> None:
    for lang in ("zh", "en"):
        rows = _rows(BY_ID["j6-sensitivity-table", lang])
        assert len(rows) == 16
        assert rows[0][:3] == ["Conv_60", "0.77795", "68.02103"]
        assert rows[-1][:3] == ["Conv_31", "0.91637", "28.79291"]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_six_precision_modes_are_rows(lang: str) -> None:
    modes = (
        "force_float32 force_float16 qint8_mixed_float32 qint8_mixed_float16 qint16_mixed_float32 qint16_mixed_float16"
    )
    cells = {cell.strip("`") for row in _rows(BY_ID["mm-precision-modes", lang]) for cell in row}  # type: ignore[index]

    assert set(modes.split()) <= cells


def test_every_json_example_parses_and_config_fences_are_closed() -> None:
    import json

    for entry in ENTRIES:
        for body in re.findall(r"(?ms)^```json\n(.*?)^```", entry.text):
            json.loads(body)
        assert entry.text.count("```") % 2 == 0, entry.id


def test_onnx_names_are_those_of_the_onnx_package() -> None:
    import onnx.defs

    ours = set(tomllib.loads((CORPUS / "onnx_operators.toml").read_text("utf-8"))["names"])
    theirs = {schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""}

    assert theirs - ours == set(), "add the new names to corpus/onnx_operators.toml"
    assert ours >= theirs


def test_glossary_terms_have_both_languages() -> None:
    terms_read = tomllib.loads((CORPUS / "glossary.toml").read_text("utf-8"))["term"]

    assert len(terms_read) >= 200
    for term in terms_read:
        assert term["zh"] and term["en"]
        assert all(word == word.lower() for word in term["en"])


@pytest.mark.parametrize("key", [encode.e5_key(), encode.use_key()])
def test_shipped_vectors_are_current(key: str) -> None:
    wanted = {passage_hash(p.text) for e in ENTRIES for p in passages_of(e)}
    with np.load(CORPUS / "vectors" / f"{key}.npz") as arrays:
        shipped = {row.tobytes() for row in arrays["hashes"]}

    assert shipped == wanted, "run 'asknpu update --ship'"


def test_gold_questions_are_not_indexed() -> None:
    indexed = {terms.phrase_key(phrase) for entry in ENTRIES for phrase in (entry.title, *entry.asks)}
    questions = tomllib.loads((CORPUS / "questions.toml").read_text("utf-8"))["question"]
    keys = [terms.phrase_key(question["text"]) for question in questions]

    assert [q["text"] for q, key in zip(questions, keys, strict=True) if key in indexed] == []
    assert len(set(keys)) == len(keys)


def test_gold_questions_are_enough_in_every_slice() -> None:
    questions = tomllib.loads((CORPUS / "questions.toml").read_text("utf-8"))["question"]
    counts = Counter(question["slice"] for question in questions)

    assert sum(bool(question["entries"]) for question in questions) >= 300
    assert counts["off-topic"] >= 60
    assert counts["near-miss"] >= 40
    assert min(counts.values()) >= 40
    assert {key for question in questions for key in question["entries"]} <= {entry.id for entry in ENTRIES}
