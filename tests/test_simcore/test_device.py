"""Device files load, every figure has a source or says that it is assumed, and broken files are explained."""

import math

import pytest

from simcore.device import UNITS, device_names, figure, load_device, number, parse_device
from simcore.errors import BadArgument

GOOD = """
name = "x"
title = "X"
unknown = ["bandwidth"]
[figures.clock]
value = 64
unit = "MHz"
source = "manual"
"""


def test_the_shipped_devices_are_listed() -> None:
    assert device_names() == ("j6", "magicmind", "nano-035a", "nano-035b")


@pytest.mark.parametrize("name", ["j6", "magicmind", "nano-035a", "nano-035b"])
def test_every_shipped_figure_has_a_source_or_is_assumed_with_a_reason(name: str) -> None:
    device = load_device(name)

    assert device.name == name
    assert device.figures
    for entry in device.figures.values():
        assert bool(entry.source) != entry.assumed
        assert entry.note or not entry.assumed
        assert entry.unit in UNITS


def test_nano_figures_are_consistent_with_each_other() -> None:
    nano = load_device("nano-035a")

    for rate, clock in (("int8_rate_64_mhz", "reference_clock"), ("int8_rate_200_mhz", "high_clock")):
        per_cycle = number(nano, rate, "GOPS") * 1e3 / number(nano, clock, "MHz")
        assert per_cycle == number(nano, "int8_ops_per_cycle", "op/cycle")
    operators = figure(nano, "operators").value
    assert len(operators) == len(set(operators)) == 63
    assert set(figure(nano, "cube_operators").value) | set(figure(nano, "fused_operators").value) < set(operators)
    assert figure(nano, "int8_macs_per_cycle").assumed
    assert number(nano, "max_scale", "1") == 2**23


def test_an_extension_inherits_all_and_replaces_its_own() -> None:
    a, b = load_device("nano-035a"), load_device("nano-035b")

    assert set(a.figures) == set(b.figures)
    assert a.unknown == b.unknown
    assert {key for key in a.figures if a.figures[key] != b.figures[key]} == {"soc_version"}


def test_an_extension_may_know_what_its_base_does_not() -> None:
    text = 'name = "y"\ntitle = "Y"\nextends = "nano-035a"\n'
    text += '[figures.power]\nvalue = 1.5\nunit = "1"\nsource = "measured"\n'

    device = parse_device(text, "y.toml")

    assert number(device, "power", "1") == 1.5
    assert "power" not in device.unknown
    assert "ub_bytes" in device.unknown


def test_figures_keep_value_unit_source_and_note() -> None:
    device = parse_device(GOOD + 'note = "typical"\n', "x.toml")

    entry = figure(device, "clock")
    assert (entry.value, entry.unit, entry.source, entry.assumed, entry.note) == (64, "MHz", "manual", False, "typical")
    with pytest.raises(TypeError):
        device.figures["clock"] = entry


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda d: figure(d, "bandwidth"), "x: no source gives bandwidth", id="unknown"),
        pytest.param(lambda d: figure(d, "speed"), "x: no figure 'speed'; it has clock", id="misspelt"),
        pytest.param(lambda d: number(d, "clock", "GOPS"), "clock is in MHz, asked for in GOPS", id="unit"),
        pytest.param(lambda _: number(load_device("j6"), "march", "name"), "no number", id="list"),
        pytest.param(
            lambda _: number(load_device("magicmind"), "operator_precision_over_network", "1"), "no number", id="truth"
        ),
        pytest.param(lambda _: load_device("tpu"), "'tpu' is unknown; choose one of j6, magicmind", id="device"),
        pytest.param(lambda _: load_device("../device"), "is unknown", id="path"),
    ],
)
def test_questions_without_an_answer_are_explained(call, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        call(parse_device(GOOD, "x.toml"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("[figures.clock]", "[figures.clock", "x.toml: not valid TOML", id="syntax"),
        pytest.param('name = "x"\n', "", "x.toml: name missing", id="no name"),
        pytest.param('title = "X"', 'title = " "', "title is ' '; expected text", id="blank title"),
        pytest.param('title = "X"', 'title = "X"\ncolour = "red"', "unknown key colour; known are", id="top key"),
        pytest.param('source = "manual"', 'sauce = "manual"', "unknown key sauce", id="figure key"),
        pytest.param('source = "manual"', "", "needs either a source or assumed", id="no source"),
        pytest.param('source = "manual"', "assumed = false", "needs either a source or assumed", id="not assumed"),
        pytest.param('source = "manual"', 'source = "m"\nassumed = true', "not both", id="both"),
        pytest.param('source = "manual"', "assumed = true", "needs a note", id="no reason"),
        pytest.param('source = "manual"', 'assumed = "yes"', "needs either a source", id="assumed text"),
        pytest.param('source = "manual"', 'source = ""', "source is ''", id="blank source"),
        pytest.param('"MHz"', '"MHZ"', "figures.clock: unit 'MHZ' is unknown; choose one of", id="unit"),
        pytest.param("value = 64", "value = nan", "value nan is no finite number", id="nan"),
        pytest.param("value = 64", "value = []", "at least one", id="empty list"),
        pytest.param("value = 64", 'value = [1, "a"]', "only numbers or only texts", id="mixed list"),
        pytest.param("value = 64", "value = [[1]]", "is no finite number", id="nested list"),
        pytest.param("value = 64", "value = 2026-01-01", "is no finite number", id="date"),
        pytest.param("value = 64\n", "", "figures.clock: value missing", id="no value"),
        pytest.param("[figures.clock]", "[figures.Clock]", "lower case words", id="figure name"),
        pytest.param('"bandwidth"', '"clock"', "clock cannot be both a figure and unknown", id="both lists"),
        pytest.param('["bandwidth"]', '"bandwidth"', "unknown: expected a list", id="unknown text"),
        pytest.param('title = "X"', 'title = "X"\nextends = "tpu"', "'tpu' is unknown", id="base"),
    ],
)
def test_broken_files_name_the_place_and_the_cure(old: str, new: str, message: str) -> None:
    assert old in GOOD

    with pytest.raises(BadArgument, match=message):
        parse_device(GOOD.replace(old, new), "x.toml")


@pytest.mark.parametrize("body", ["figures = 3", "[figures]\nclock = 3"])
def test_figures_must_be_tables(body: str) -> None:
    with pytest.raises(BadArgument, match="expected"):
        parse_device(f'name = "x"\ntitle = "X"\n{body}\n', "x.toml")


def test_infinite_numbers_are_refused_in_lists_too() -> None:
    with pytest.raises(BadArgument, match=str(math.inf)):
        parse_device(GOOD.replace("64", "[1, inf]"), "x.toml")
