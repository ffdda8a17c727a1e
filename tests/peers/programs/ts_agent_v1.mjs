// An agent on the official TypeScript SDK, protocol 1. The first word of a prompt says what it does; see README.md above.
// ACP_SDK names the module of the SDK.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

const acp = await import(process.env.ACP_SDK);
const { agent: methods, client: theirs } = acp.methods;

const permissionOptions = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];
const nameForm = { type: "object", properties: { name: { type: "string", title: "Name" } }, required: ["name"] };
const modes = { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code" }] };
const configOptions = (currentValue) => [
  {
    id: "effort",
    name: "Effort",
    type: "select",
    currentValue,
    options: [{ value: "low", name: "Low" }, { value: "high", name: "High" }],
  },
];

/** Ends the turn early with this stop reason. */
class Refused extends Error {}

const sessions = new Map();
let offers = {};

class Turn {
  constructor(client, sessionId) {
    this.client = client;
    this.sessionId = sessionId;
    this.cwd = sessions.get(sessionId).cwd;
  }

  update(update) {
    return this.client.notify(theirs.session.update, { sessionId: this.sessionId, update });
  }

  request(method, params) {
    return this.client.request(method, { sessionId: this.sessionId, ...params });
  }

  say(text) {
    return this.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  call(toolCallId, status, more = {}) {
    return this.update({ sessionUpdate: "tool_call_update", toolCallId, status, ...more });
  }

  async hello() {
    await this.update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } });
    await this.say("Hel");
    await this.say("lo");
  }

  async edit(rest) {
    const path = join(this.cwd, rest);
    const oldText = existsSync(path) ? readFileSync(path, "utf8") : null;
    const title = `Edit ${rest}`;
    const content = [{ type: "diff", path, oldText, newText: "new text\n" }];
    await this.update({ sessionUpdate: "tool_call", toolCallId: "edit-1", title, kind: "edit", status: "pending", content });
    await this.permission("edit-1", title);
    if (offers.fs?.writeTextFile) await this.request(theirs.fs.writeTextFile, { path, content: "new text\n" });
    else writeFileSync(path, "new text\n");
    await this.call("edit-1", "completed");
    await this.say("edited");
  }

  async permission(toolCallId, title) {
    const toolCall = { toolCallId, title };
    const { outcome } = await this.request(theirs.session.requestPermission, { toolCall, options: permissionOptions });
    if (outcome.outcome === "selected" && outcome.optionId === "allow") return this.call(toolCallId, "in_progress");
    await this.call(toolCallId, "failed");
    await this.say("refused");
    throw new Refused(outcome.outcome === "cancelled" ? "cancelled" : "end_turn");
  }

  async read(rest) {
    const { content } = await this.request(theirs.fs.readTextFile, { path: join(this.cwd, rest) });
    await this.say(content);
  }

  async run(rest) {
    const [command, ...args] = rest.split(" ");
    const { terminalId } = await this.request(theirs.terminal.create, { command, args, cwd: this.cwd });
    const content = [{ type: "terminal", terminalId }];
    const call = { toolCallId: "run-1", title: rest, kind: "execute", status: "in_progress", content };
    await this.update({ sessionUpdate: "tool_call", ...call });
    const { exitCode } = await this.request(theirs.terminal.waitForExit, { terminalId });
    const { output } = await this.request(theirs.terminal.output, { terminalId });
    await this.request(theirs.terminal.release, { terminalId });
    await this.call("run-1", "completed");
    await this.say(`${exitCode}: ${output}`);
  }

  async plan() {
    for (const [first, second] of [["in_progress", "pending"], ["completed", "completed"]]) {
      const entries = [
        { content: "look", priority: "medium", status: first },
        { content: "leap", priority: "high", status: second },
      ];
      await this.update({ sessionUpdate: "plan", entries });
    }
  }

  async ask() {
    const form = { mode: "form", message: "Who are you?", requestedSchema: nameForm };
    const { action, content } = await this.request(theirs.elicitation.create, form);
    await this.say(action === "accept" ? `Hello ${content.name}` : action);
  }

  async wait() {
    const cancelled = new Promise((resolve) => (sessions.get(this.sessionId).cancel = resolve));
    await this.say("waiting");
    await cancelled;
    throw new Refused("cancelled");
  }
}

async function prompt({ params: { sessionId, prompt }, client }) {
  const [word, ...rest] = prompt[0].text.split(" ");
  const turn = new Turn(client, sessionId);
  const act = ["edit", "read", "run", "plan", "ask", "wait"].includes(word) ? word : "hello";
  try {
    await turn[act](rest.join(" "));
  } catch (error) {
    if (error instanceof Refused) return { stopReason: error.message };
    throw error;
  }
  return { stopReason: "end_turn" };
}

acp
  .agent({ name: "ts-sdk-agent" })
  .onRequest(methods.initialize, ({ params }) => {
    offers = params.clientCapabilities ?? {};
    return {
      protocolVersion: acp.PROTOCOL_VERSION,
      agentInfo: { name: "ts-sdk-agent-v1", version: "1" },
      agentCapabilities: {},
    };
  })
  .onRequest(methods.session.new, ({ params: { cwd } }) => {
    const sessionId = `session-${sessions.size + 1}`;
    sessions.set(sessionId, { cwd });
    return { sessionId, modes, configOptions: configOptions("low") };
  })
  .onRequest(methods.session.setMode, async ({ params: { sessionId, modeId }, client }) => {
    await new Turn(client, sessionId).update({ sessionUpdate: "current_mode_update", currentModeId: modeId });
    return {};
  })
  .onRequest(methods.session.setConfigOption, ({ params }) => ({ configOptions: configOptions(params.value) }))
  .onRequest(methods.session.prompt, prompt)
  .onNotification(methods.session.cancel, ({ params }) => sessions.get(params.sessionId)?.cancel?.())
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
