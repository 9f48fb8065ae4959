"""Made-up agent for the contract that an agent is one file."""

from orbit_registry.hook.call import Call, field
from orbit_registry.model.reach import TOOL
from orbit_registry.hook.payload import take_tool, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.agents.agent import Agent
    from orbit_registry.hook.call import Payload


def read(payload: "Payload") -> Call | None:
    """Return the call of a payload; None for an event that we don't handle."""
    if field(payload, "moment") != "edit":
        return None
    call = Call("edit", TOOL)
    call.folder = field(payload, "where")
    take_tool(call, "edit", {"path": payload.get("file")})
    return call


def reply(call: Call, text: str) -> str:
    """Return the reply with a text for the agent."""
    return to_json({"note": text}) if text else ""


def agent() -> "Agent":
    """Return what the installer needs."""
    from orbit_registry.agents.agent import PATH, ROOT, Agent, JsonHooks, SettingsFile, flat

    return Agent(
        name="madeup",
        title="Made up",
        evidence="it does not exist",
        settings={"local": SettingsFile(".madeup/hooks.json", JsonHooks({"edit": ""}, {"timeout": 5}))},
        payload={"moment": "edit", "where": ROOT, "file": PATH},
        event="edit",
        replies=flat(["edit"], "note"),
        texts=(("note",),),
    )
