"""The slow pass: what is dropped, what is kept, what is an error, and what is told about it."""

import json
from typing import Any

import pytest
from codec_samples import (
    Block,
    Colour,
    Everything,
    Hints,
    Image,
    Inner,
    Named,
    Needs,
    Node,
    Phase,
    Plain,
    Remote,
    Server,
    State,
    Text,
)
from msgspec import UNSET

from duologue.codec import DoesNotFit, Dropped, convert, decode, encode
from duologue.codec.salvage import MOST_DROPPED
from duologue.protocol.base import Unknown


def read(wanted: Any, value: Any) -> tuple[Any, list[Dropped]]:
    """The value and the losses; parsed JSON and JSON text must give the same, and encode to what decodes again."""
    losses: list[Dropped] = []
    result = decode(wanted, json.dumps(value).encode(), losses.append)
    again: list[Dropped] = []
    assert convert(wanted, value, again.append) == result
    assert again == losses
    assert decode(wanted, encode(result)) == result
    return result, losses


def everything(**members: Any) -> tuple[Any, list[str]]:
    result, losses = read(Everything, {"id": "a", **members})
    return result, [loss.path for loss in losses]


def refusal(wanted: Any, value: Any) -> str:
    with pytest.raises(DoesNotFit) as caught:
        decode(wanted, json.dumps(value).encode())
    with pytest.raises(DoesNotFit) as again:
        convert(wanted, value)
    assert str(again.value) == str(caught.value)
    return str(caught.value)


# --- Members ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "wrong"),
    [("note", 7), ("on", "yes"), ("colour", 3), ("blocks", "x"), ("big", -1), ("lenientBlock", []), ("_meta", [1])],
)
def test_a_lenient_member_that_does_not_fit_is_absent(key: str, wrong: Any) -> None:
    result, dropped = everything(**{key: wrong})
    assert result == Everything(id="a")
    assert dropped == [f"$.{key}"]


@pytest.mark.parametrize(
    "key", ["on", "big", "plain", "closed", "server", "servers", "count", "table", "some", "price"]
)
def test_null_is_absent_where_it_is_not_allowed(key: str) -> None:
    result, dropped = everything(**{key: None})
    assert result == Everything(id="a")
    assert dropped == [f"$.{key}"]


@pytest.mark.parametrize(
    "key", ["note", "strict", "colour", "blocks", "block", "lenientBlock", "_meta", "anything", "noServer"]
)
def test_null_stays_null_where_it_is_allowed(key: str) -> None:
    wire = {"id": "a", "plain": None, key: None}
    result, dropped = everything(**wire)
    assert json.loads(encode(result))[key] is None
    assert dropped == ["$.plain"]


@pytest.mark.parametrize(
    ("key", "wrong", "reason"),
    [
        ("strict", 7, "expected string or null, found integer"),
        ("count", "2", "expected integer >= -9223372036854775808 and <= 9223372036854775807, found string"),
        ("both", -1, "expected integer >= 0, found another integer"),
        ("price", "1", "expected number, found string"),
        ("block", 7, "expected object or null, found integer"),
        ("closed", [], "expected object, found array"),
        ("some", [], "expected array of length >= 1, found another array"),
        ("options", "x", "expected array, found string"),
        ("table", [], "expected object, found array"),
    ],
)
def test_a_strict_member_that_does_not_fit_is_an_error(key: str, wrong: Any, reason: str) -> None:
    assert refusal(Everything, {"id": "a", key: wrong}) == f"$.{key}: {reason}"


def test_a_missing_required_member_is_named() -> None:
    assert refusal(Everything, {"note": "n"}) == "$.id: required member is missing"


def test_null_is_no_required_member() -> None:
    assert refusal(Everything, {"id": None}) == "$.id: expected string, found null"


def test_missing_members_that_a_reader_may_miss_are_empty() -> None:
    result, losses = read(Needs, {})
    assert result == Needs(things=[], inner=Inner())
    assert [str(loss) for loss in losses] == [
        "$.things: required member is missing",
        "$.inner: required member is missing",
    ]


def test_wrong_members_that_a_reader_may_miss_are_empty() -> None:
    result, losses = read(Needs, {"things": {}, "inner": None})
    assert result == Needs(things=[], inner=Inner())
    assert [loss.path for loss in losses] == ["$.things", "$.inner"]


def test_a_null_message_is_an_empty_one() -> None:
    result, losses = read(Inner, None)
    assert result == Inner()
    assert [str(loss) for loss in losses] == ["$: expected object, found null"]
    assert refusal(Everything, None) == "$: expected object, found null"


# --- Lists -----------------------------------------------------------------------------------------------------------


def test_items_that_do_not_fit_are_dropped_and_their_neighbours_kept() -> None:
    blocks = [{"type": "text", "text": "x"}, {"type": "text"}, 7, {"type": "image", "data": "d"}]
    result, dropped = everything(blocks=blocks)
    assert result.blocks == [Text(text="x"), Image(data="d")]
    assert dropped == ["$.blocks[1]", "$.blocks[2]"]


def test_an_item_of_a_strict_list_is_an_error() -> None:
    wire = {"id": "a", "some": [{"type": "text", "text": "x"}, {"type": "text", "text": 1}]}
    assert refusal(Everything, wire) == "$.some[1].text: expected string, found integer"


def test_lists_of_lists_of_defaults() -> None:
    block = {"type": "text", "text": "x", "hints": {"audience": ["user", "robot"], "weight": "much"}}
    result, dropped = everything(blocks=[block])
    assert result.blocks == [Text(text="x", hints=Hints(audience=["user"]))]
    assert dropped == ["$.blocks[0].hints.audience[1]", "$.blocks[0].hints.weight"]


def test_what_is_dropped_within_something_dropped_is_not_told() -> None:
    block = {"type": "text", "_meta": 5}
    losses = read(Everything, {"id": "a", "blocks": [block]})[1]
    assert [str(loss) for loss in losses] == ["$.blocks[0]: $.blocks[0].text: required member is missing"]


def test_nothing_is_told_of_a_message_that_is_refused() -> None:
    losses: list[Dropped] = []
    with pytest.raises(DoesNotFit):
        decode(Everything, b'{"note": 1, "strict": 1}', losses.append)
    assert losses == []


def test_a_message_that_loses_too_much_is_refused() -> None:
    result, dropped = everything(blocks=[5] * MOST_DROPPED)
    assert (result.blocks, len(dropped)) == ([], MOST_DROPPED)
    reason = f"$: more than {MOST_DROPPED} values in it do not fit"
    assert refusal(Everything, {"id": "a", "blocks": [5] * (MOST_DROPPED + 1)}) == reason
    halves = [{"type": "text", "text": "x", "hints": {"audience": [1] * 100}}] * (MOST_DROPPED // 50)
    assert refusal(Everything, {"id": "a", "blocks": halves}) == reason


# --- Unions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["block", "lenientBlock", "single"])
def test_an_unknown_variant_of_an_open_union_is_kept_whole(key: str) -> None:
    raw = {"type": "_acme.chart", "x": [1, 1.5, None, {"b": "ü"}], "_meta": {"k": 0}}
    result, dropped = everything(**{key: raw})
    assert json.loads(encode(result))[key] == raw
    assert dropped == []


def test_unknown_variants_keep_their_place_in_lists_and_tables() -> None:
    raw = {"type": "new", "n": 1}
    result, _ = everything(blocks=[raw, {"type": "text", "text": "x"}, raw], table={"a b": raw})
    assert result.blocks == [Unknown(raw), Text(text="x"), Unknown(raw)]
    assert result.table == {"a b": Unknown(raw)}


def test_an_unknown_variant_of_a_closed_union_is_an_error() -> None:
    expected = '$.closed.type: expected "text" or "image", found another string'
    assert refusal(Everything, {"id": "a", "closed": {"type": "new"}}) == expected


@pytest.mark.req("v2-updates-10")
def test_a_known_variant_with_a_bad_payload_is_an_error_and_not_unknown() -> None:
    assert refusal(Block, {"type": "text", "text": 7}) == "$.text: expected string, found integer"
    assert refusal(Everything, {"id": "a", "block": {"type": "image"}}) == "$.block.data: required member is missing"


@pytest.mark.parametrize(
    ("tag", "reason"), [({}, "required member is missing"), ({"type": 5}, "expected string, found integer")]
)
def test_a_union_needs_a_tag_that_is_a_text(tag: Any, reason: str) -> None:
    assert refusal(Everything, {"id": "a", "block": {"text": "x", **tag}}) == f"$.block.type: {reason}"


def test_one_struct_alone_refuses_the_tag_of_another() -> None:
    expected = '$.textOnly.type: expected "text", found another string'
    assert refusal(Everything, {"id": "a", "textOnly": {"type": "image", "text": "x"}}) == expected
    assert (
        refusal(Everything, {"id": "a", "textOnly": {"type": 3}}) == "$.textOnly.type: expected string, found integer"
    )


@pytest.mark.parametrize("note", ["n", 7])
def test_a_union_of_one_needs_no_tag_in_either_pass(note: Any) -> None:
    result, _ = everything(single={"text": "x"}, note=note)
    assert result.single == Text(text="x")


def test_an_unknown_variant_must_have_what_its_union_asks_of_all() -> None:
    raw = {"type": "new", "itemId": "i", "more": 1}
    assert read(Named, raw)[0] == Unknown(raw)
    assert refusal(Named, {"type": "new"}) == "$.itemId: required member is missing"
    assert refusal(Named, {"type": "new", "itemId": 3}) == "$.itemId: expected string, found integer"


def test_an_unknown_second_tag_makes_the_object_unknown() -> None:
    raw = {"type": "state", "phase": "_asleep", "reason": "late"}
    assert read(Block, raw)[0] == Unknown(raw)
    assert read(Block, {"type": "state", "phase": "on", "reason": 1})[0] == State(phase=Phase.ON)
    assert refusal(Block, {"type": "state", "phase": 1}) == '$.phase: expected "on" or "off", found integer'
    assert refusal(Block, {"type": "state"}) == "$.phase: required member is missing"


def test_untagged_shapes_are_told_apart_by_their_own_rule() -> None:
    servers = [
        {"command": "c", "args": ["a"]},
        {"type": "http", "url": "u"},
        {"type": "pipe", "q": 1},
        {"command": "c"},
        {"type": "http"},
        5,
    ]
    result, dropped = everything(servers=servers)
    assert result.servers == [Plain(command="c", args=["a"]), Remote(url="u"), Unknown({"type": "pipe", "q": 1})]
    assert dropped == ["$.servers[3]", "$.servers[4]", "$.servers[5]"]


def test_errors_within_untagged_shapes_name_their_place() -> None:
    assert refusal(Server, {"command": "c", "args": [1]}) == "$.args[0]: expected string, found integer"
    expected = "$.options[0].text: expected string, found integer"
    assert refusal(Everything, {"id": "a", "options": [{"type": "text", "text": 1}]}) == expected


def test_a_type_that_holds_itself() -> None:
    tree = {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}, {"name": 4}]}]}
    result, losses = read(Node, tree)
    assert result == Node(name="a", children=[Node(name="b", children=[Node(name="c")])])
    assert [loss.path for loss in losses] == ["$.children[0].children[1]"]


# --- What survives ---------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-extensibility-03")
def test_all_that_is_unknown_survives_a_round_trip() -> None:
    wire = {
        "_meta": {"a.b/c": [1, None, {"x": 2.5}]},
        "id": "a",
        "count": 0,
        "colour": "_ultraviolet",
        "blocks": [{"type": "_x", "deep": {"er": []}}, {"type": "text", "text": "t"}],
        "table": {},
        "anything": {"k": [True, "é"]},
    }
    result, dropped = everything(**wire)
    assert dropped == []
    assert result.colour == Colour("_ultraviolet")
    assert not result.colour.known
    assert encode(result) == json.dumps(wire, separators=(",", ":"), ensure_ascii=False).encode()


@pytest.mark.req("all-extensibility-03")
def test_unknown_members_are_ignored_in_both_passes() -> None:
    assert decode(Everything, b'{"id":"a","future":{"x":[1]},"note":"n"}') == Everything(id="a", note="n")
    result, dropped = everything(future={"x": [1]}, note=4)
    assert (result, dropped) == (Everything(id="a"), ["$.note"])


def test_the_slow_pass_reads_fitting_members_as_the_fast_one() -> None:
    wire = {
        "id": "a",
        "count": 3,
        "price": 2,
        "on": True,
        "strict": "s",
        "block": {"type": "image", "data": "d", "width": 4},
        "server": {"command": "c", "args": []},
        "options": ["x"],
        "table": {"k": {"type": "text", "text": "t"}},
        "some": [{"type": "state", "phase": "off"}],
        "node": {"name": "n"},
    }
    fast = decode(Everything, json.dumps(wire).encode())
    slow, dropped = everything(**wire, note=4)
    assert slow == fast
    assert dropped == ["$.note"]
    assert fast.note is UNSET
