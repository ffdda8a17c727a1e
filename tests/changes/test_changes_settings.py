"""Modes, models and config options: one list of options in v2."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import SESSION, Line, agent, client, method, updates

from duologue.protocol.changes.memory import ClientExtras
from duologue.protocol.changes.steps import Refuse
from duologue.protocol.v1.config import SetSessionModeRequest
from duologue.protocol.version import V1

PLACE = {"cwd": "/w", "mcpServers": []}


def values(*names: str) -> list[Any]:
    return [{"value": name, "name": name.title()} for name in names]


def mode(current: str = "ask", **names: Any) -> Any:
    option = {"name": "Mode", "category": "mode", "type": "select", "currentValue": current}
    return {**option, "options": values("ask", "code"), **names}


def switch(current: bool = False, **names: Any) -> Any:
    return {"name": "Fast", "type": "boolean", "currentValue": current, **names}


def grouped(**names: Any) -> Any:
    return {"name": "Model", "category": "model", "type": "select", "currentValue": "m1", **names}


GROUP = {"name": "Ours", "options": values("m1", "m2")}
V2_OPTIONS = [
    mode(configId="how"),
    grouped(configId="model", options=[{**GROUP, "groupId": "g"}]),
    switch(configId="fast"),
]
V1_OPTIONS = [mode(id="how"), grouped(id="model", options=[{**GROUP, "group": "g"}]), switch(id="fast")]
MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}


def options_update(*options: Any) -> Any:
    return {"sessionUpdate": "config_option_update", "configOptions": list(options)}


def mode_update(mode_id: str) -> Any:
    return {"sessionUpdate": "current_mode_update", "currentModeId": mode_id}


def opened_agent(options: Any = V2_OPTIONS) -> Line:
    line = agent()
    line.ask_in("session/new", PLACE, "n")
    line.answer_out("n", {"sessionId": SESSION, "configOptions": options})
    return line


def opened_client(**settings: Any) -> Any:
    line = client()
    line.ask_out("session/new", {"cwd": "/w"}, "n")
    ((_, _, result),) = line.answer_in("n", {"sessionId": SESSION, **settings})
    return line, result


def setting(config_id: str, value: Any, kind: str) -> Any:
    return {"sessionId": SESSION, "configId": config_id, "value": value, "type": kind}


# --- Down ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-modes-01", "v1-modes-08", "v1-config-01")
def test_v1_gets_the_options_and_the_modes_in_them() -> None:
    line = agent()
    line.ask_in("session/new", PLACE, "n")
    assert line.answer_out("n", {"sessionId": SESSION, "configOptions": V2_OPTIONS}) == [
        ["answer", "n", {"sessionId": SESSION, "modes": MODES, "configOptions": V1_OPTIONS}]
    ]


@pytest.mark.req("v1-config-02")
def test_switches_go_only_to_clients_that_offered_to_show_them() -> None:
    line = agent()
    line.memory.client = ClientExtras(boolean_options=False)
    future = {"configId": "x", "name": "X", "type": "_slider"}
    (told,) = line.update_out(options_update(*V2_OPTIONS, future))[1:]
    assert told == options_update(*V1_OPTIONS[:2])


def test_no_options_are_no_modes() -> None:
    line = agent()
    line.ask_in("session/new", PLACE, "n")
    assert line.answer_out("n", {"sessionId": SESSION}) == [["answer", "n", {"sessionId": SESSION}]]


@pytest.mark.req("v1-modes-06", "v1-modes-08")
def test_a_new_mode_is_told_in_both_ways_and_an_old_one_is_not() -> None:
    line = opened_agent()
    assert line.update_out(options_update(mode("code", configId="how"))) == [
        mode_update("code"),
        options_update(mode("code", id="how")),
    ]
    assert line.update_out(options_update(mode("code", configId="how"))) == [options_update(mode("code", id="how"))]


def test_setting_the_mode_sets_its_option() -> None:
    line = opened_agent()
    asked = line.ask_in("session/set_mode", {"sessionId": SESSION, "modeId": "code"}, "m")
    assert asked == [["ask", "session/set_config_option", setting("how", "code", "id")]]
    changed = [mode("code", configId="how"), *V2_OPTIONS[1:]]
    assert updates(line.answer_out("m", {"configOptions": changed})) == [
        options_update(mode("code", id="how"), *V1_OPTIONS[1:]),
        ["answer", "m", {}],
    ]


def test_options_that_were_told_before_are_not_told_again() -> None:
    line = opened_agent()
    line.ask_in("session/set_mode", {"sessionId": SESSION, "modeId": "code"}, "m")
    changed = [mode("code", configId="how")]
    line.update_out(options_update(*changed))
    assert line.answer_out("m", {"configOptions": changed}) == [["answer", "m", {}]]


def test_a_mode_that_was_not_taken_is_told() -> None:
    line = opened_agent()
    line.ask_in("session/set_mode", {"sessionId": SESSION, "modeId": "code"}, "m")
    assert updates(line.answer_out("m", {"configOptions": V2_OPTIONS})) == [["answer", "m", {}], mode_update("ask")]


@pytest.mark.req("v1-modes-04")
@pytest.mark.parametrize("options", [V2_OPTIONS, [switch(configId="fast")], []])
def test_a_mode_that_is_not_there_is_refused(options: Any) -> None:
    line = opened_agent(options)
    asked = line.ask_in("session/set_mode", {"sessionId": SESSION, "modeId": "bogus"}, "m")
    assert asked == [["refuse", "m", -32602, "the session has no mode 'bogus'"]]


@pytest.mark.req("all-session-07")
@pytest.mark.parametrize("name", ["unknown", "closed"])
def test_a_mode_of_a_session_that_is_not_open_is_refused_as_everywhere(name: str) -> None:
    line = opened_agent()
    if name == "closed":
        line.ask_in("session/close", {"sessionId": SESSION}, "c")
        line.answer_out("c", {})
    gone = SESSION if name == "closed" else name
    line.ask_in("session/prompt", {"sessionId": gone, "prompt": []}, "p")
    steps = line.edge.request_in(method(V1, "session/set_mode"), SetSessionModeRequest(session_id=gone, mode_id="x"), 1)
    assert steps == (Refuse(1, -32002, f"Session not found: {gone}", {"sessionId": gone}),)


@pytest.mark.parametrize("session_id", [SESSION, "s" * 5000], ids=["mode", "session"])
def test_what_is_not_there_is_named_on_one_short_line(session_id: str) -> None:
    [refusal] = opened_agent().ask_in("session/set_mode", {"sessionId": session_id, "modeId": "m\n" * 5000}, "m")
    assert "..." in refusal[3] and len(refusal[3]) < 200 and refusal[3].isprintable()


@pytest.mark.req("v1-config-03", "v1-config-04", "v2-config-02")
@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ({"value": "m2"}, {"value": "m2", "type": "id"}),
        ({"value": True, "type": "boolean"}, {"value": True, "type": "boolean"}),
        ({"value": "m2", "type": "_future"}, {"value": "m2", "type": "id"}),
    ],
)
def test_setting_an_option(said: Any, heard: Any) -> None:
    line = opened_agent()
    target = {"sessionId": SESSION, "configId": "x"}
    asked = line.ask_in("session/set_config_option", {**target, **said}, "o")
    assert asked == [["ask", "session/set_config_option", {**target, **heard}]]
    assert line.answer_out("o", {"configOptions": V2_OPTIONS}) == [["answer", "o", {"configOptions": V1_OPTIONS}]]


@pytest.mark.req("v1-modes-08")
def test_an_option_that_changes_the_mode_tells_the_mode() -> None:
    line = opened_agent()
    line.ask_in("session/set_config_option", {"sessionId": SESSION, "configId": "how", "value": "code"}, "o")
    changed = mode("code", configId="how")
    assert updates(line.answer_out("o", {"configOptions": [changed]})) == [
        mode_update("code"),
        ["answer", "o", {"configOptions": [mode("code", id="how")]}],
    ]


# --- Up --------------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-modes-09", "v2-config-01")
def test_options_of_v1_are_used_alone_when_the_mode_is_among_them() -> None:
    _, result = opened_client(modes=MODES, configOptions=V1_OPTIONS)
    assert result == {"sessionId": SESSION, "configOptions": V2_OPTIONS}


@pytest.mark.req("v1-modes-10", "v2-modes-01")
def test_modes_without_an_option_become_one() -> None:
    _, result = opened_client(modes=MODES, configOptions=[switch(id="mode")])
    assert result["configOptions"] == [mode(configId="mode_"), switch(configId="mode")]


@pytest.mark.req("v1-session-02")
@pytest.mark.parametrize("settings", [{}, {"modes": None, "configOptions": None}])
def test_no_settings_stay_none(settings: Any) -> None:
    assert opened_client(**settings)[1] == {"sessionId": SESSION}


def test_setting_the_made_option_sets_the_mode() -> None:
    line, _ = opened_client(modes=MODES, configOptions=[switch(id="fast")])
    asked = line.ask_out("session/set_config_option", setting("mode", "code", "id"), "o")
    assert asked == [["ask", "session/set_mode", {"sessionId": SESSION, "modeId": "code"}]]
    kept = [mode("code", configId="mode"), switch(configId="fast")]
    assert line.answer_in("o", {}) == [["answer", "o", {"configOptions": kept}]]


@pytest.mark.req("v1-modes-07")
def test_a_mode_update_is_an_update_of_the_options_once() -> None:
    line, _ = opened_client(modes=MODES)
    assert line.update_in(mode_update("code")) == [options_update(mode("code", configId="mode"))]
    assert line.update_in(mode_update("code")) == []
    assert line.update_in(options_update(switch(id="fast"))) == [
        options_update(mode("code", configId="mode"), switch(configId="fast"))
    ]


def test_a_mode_update_beside_real_options_changes_them() -> None:
    line, _ = opened_client(modes=MODES, configOptions=[mode(id="how")])
    assert line.update_in(options_update(mode("code", id="how"))) == [options_update(mode("code", configId="how"))]
    assert line.update_in(mode_update("code")) == []
    assert line.update_in(mode_update("ask")) == [options_update(mode("ask", configId="how"))]


def test_a_mode_update_of_an_unknown_session_breaks_nothing() -> None:
    assert client().update_in(mode_update("code")) == []


@pytest.mark.req("v1-config-03")
@pytest.mark.parametrize(("value", "kind", "sent"), [("m2", "id", {}), (True, "boolean", {"type": "boolean"})])
def test_setting_an_option_of_a_v1_agent(value: Any, kind: str, sent: Any) -> None:
    line, _ = opened_client(configOptions=V1_OPTIONS)
    target = {"sessionId": SESSION, "configId": "x", "value": value}
    asked = line.ask_out("session/set_config_option", {**target, "type": kind}, "o")
    assert asked == [["ask", "session/set_config_option", {**target, **sent}]]
    assert line.answer_in("o", {"configOptions": V1_OPTIONS}) == [["answer", "o", {"configOptions": V2_OPTIONS}]]


def test_an_option_type_that_v1_cannot_set_is_refused() -> None:
    line, _ = opened_client()
    assert line.ask_out("session/set_config_option", setting("x", [1], "_list"), "o") == [
        ["refuse", "o", -32602, "protocol version 1 has no config option of type '_list'"]
    ]


def test_models_of_older_agents_become_an_option() -> None:
    models = {
        "currentModelId": "m1",
        "availableModels": [{"modelId": "m1", "name": "M1", "description": "d"}, {"modelId": "m2", "name": "M2"}, {}],
    }
    line, result = opened_client(modes=MODES, models=models)
    option = grouped(configId="model", options=values("m1", "m2"))
    option["options"][0]["description"] = "d"
    assert result["configOptions"] == [mode(configId="mode"), option]
    asked = line.ask_out("session/set_config_option", setting("model", "m2", "id"), "o")
    assert asked == [["ask", "session/set_model", {"sessionId": SESSION, "modelId": "m2"}]]
    ((_, _, answer),) = line.answer_in("o", {})
    assert [one["currentValue"] for one in answer["configOptions"]] == ["ask", "m2"]


def test_models_beside_their_option_are_not_told_twice() -> None:
    models = {"currentModelId": "m1[low]", "availableModels": [{"modelId": "m1[low]", "name": "M1 (low)"}]}
    line, result = opened_client(modes=MODES, configOptions=V1_OPTIONS, models=models)
    assert result["configOptions"] == V2_OPTIONS
    asked = line.ask_out("session/set_config_option", setting("model", "m2", "id"), "o")
    assert [step[1] for step in asked] == ["session/set_config_option"]


@pytest.mark.parametrize("models", [[], {"availableModels": None}, {"currentModelId": "m", "availableModels": [{}]}])
def test_models_of_another_shape_are_left_out(models: Any) -> None:
    assert opened_client(models=models)[1] == {"sessionId": SESSION}
