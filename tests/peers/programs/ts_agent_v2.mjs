// An agent on the official TypeScript SDK, protocol 2. The first word of a prompt says what it does; see README.md above.
// ACP_SDK names the module of the SDK.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

const acp = await import(process.env.ACP_SDK);
const { agent: methods, client: theirs } = acp.methods;

const permissionOptions = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];
const nameForm = { type: "object", properties: { name: { type: "string", title: "Name" } }, required: ["name"] };
const configOptions = (currentValue) => [
  {
    configId: "effort",
    name: "Effort",
    type: "select",
    currentValue,
    options: [{ value: "low", name: "Low" }, { value: "high", name: "High" }],
  },
];

/** Ends the turn early with this stop reason. */
class Refused extends Error {}

const sessions = new Map();
let messages = 0;

class Turn {
  constructor(client, sessionId) {
    this.client = client;
    this.sessionId = sessionId;
    this.cwd = sessions.get(sessionId).cwd;
    this.messageId = `message-${++messages}`;
  }

  update(update) {
    return this.client.notify(theirs.session.update, { sessionId: this.sessionId, update });
  }

  request(method, params) {
    return this.client.request(method, { sessionId: this.sessionId, ...params });
  }

  state(state, more = {}) {
    return this.update({ sessionUpdate: "state_update", state, ...more });
  }

  say(text) {
    const content = { type: "text", text };
    return this.update({ sessionUpdate: "agent_message_chunk", messageId: this.messageId, content });
  }

  call(toolCallId, facts) {
    return this.update({ sessionUpdate: "tool_call_update", toolCallId, ...facts });
  }

  async hello() {
    const content = { type: "text", text: "hm" };
    await this.update({ sessionUpdate: "agent_thought_chunk", messageId: `${this.messageId}-thought`, content });
    await this.say("Hel");
    await this.say("lo");
  }

  async edit(rest) {
    const path = join(this.cwd, rest);
    const title = `Edit ${rest}`;
    const operation = existsSync(path) ? "modify" : "add";
    const content = [{ type: "diff", changes: [{ operation, path, fileType: "text" }] }];
    await this.call("edit-1", { title, kind: "edit", status: "pending", content });
    await this.permission("edit-1", title);
    writeFileSync(path, "new text\n");
    await this.call("edit-1", { status: "completed" });
    await this.say("edited");
  }

  async permission(toolCallId, title) {
    const subject = { type: "tool_call", toolCall: { toolCallId, title } };
    await this.state("requires_action");
    const asked = { title, subject, options: permissionOptions };
    const { outcome } = await this.request(theirs.session.requestPermission, asked);
    await this.state("running");
    if (outcome.outcome === "selected" && outcome.optionId === "allow") {
      return this.call(toolCallId, { status: "in_progress" });
    }
    await this.call(toolCallId, { status: outcome.outcome === "cancelled" ? "cancelled" : "failed" });
    await this.say("refused");
    throw new Refused(outcome.outcome === "cancelled" ? "cancelled" : "end_turn");
  }

  async plan() {
    for (const [first, second] of [["in_progress", "pending"], ["completed", "completed"]]) {
      const entries = [
        { content: "look", priority: "medium", status: first },
        { content: "leap", priority: "high", status: second },
      ];
      await this.update({ sessionUpdate: "plan_update", plan: { type: "items", planId: "plan-1", entries } });
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

async function run(turn, prompt) {
  const [word, ...rest] = prompt[0].text.split(" ");
  const act = ["edit", "plan", "ask", "wait"].includes(word) ? word : "hello";
  await turn.update({ sessionUpdate: "user_message", messageId: `${turn.messageId}-user`, content: prompt });
  await turn.state("running");
  let stopReason = "end_turn";
  try {
    await turn[act](rest.join(" "));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    stopReason = error.message;
  }
  await turn.state("idle", { stopReason });
}

acp
  .agent({ name: "ts-sdk-agent" })
  .onRequest(methods.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    info: { name: "ts-sdk-agent-v2", version: "1" },
    capabilities: { session: {} },
  }))
  .onRequest(methods.session.new, ({ params: { cwd } }) => {
    const sessionId = `session-${sessions.size + 1}`;
    sessions.set(sessionId, { cwd });
    return { sessionId, configOptions: configOptions("low") };
  })
  .onRequest(methods.session.list, () => ({
    sessions: [...sessions].map(([sessionId, { cwd }]) => ({ sessionId, cwd })),
  }))
  .onRequest(methods.session.resume, () => ({ configOptions: configOptions("low") }))
  .onRequest(methods.session.close, ({ params }) => void sessions.delete(params.sessionId))
  .onRequest(methods.session.setConfigOption, ({ params }) => ({ configOptions: configOptions(params.value) }))
  .onRequest(methods.session.prompt, ({ params, client }) => {
    // After this handler's return, so that the response goes out before the turn's updates.
    const turn = new Turn(client, params.sessionId);
    setTimeout(() => run(turn, params.prompt), 0);
    // Newer drafts ask for the id; this one ignores it.
    return { messageId: `${turn.messageId}-user` };
  })
  .onNotification(methods.session.cancel, ({ params }) => sessions.get(params.sessionId)?.cancel?.())
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
