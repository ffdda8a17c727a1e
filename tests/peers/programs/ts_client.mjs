// A client on the official TypeScript SDK: works through prompts and prints what it saw as JSON; see README.md above.
// ACP_SDK names the module of the SDK; its protocol version decides the shapes.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";

const acp = await import(process.env.ACP_SDK);
const { agent: theirs, client: methods } = acp.methods;
const isV2 = acp.PROTOCOL_VERSION === 2;

const split = process.argv.indexOf("--");
const { values: options } = parseArgs({
  args: process.argv.slice(2, split),
  options: {
    cwd: { type: "string" },
    prompt: { type: "string", multiple: true, default: [] },
    answer: { type: "string", default: "allow" },
    cancel: { type: "boolean", default: false },
    mode: { type: "string" },
    config: { type: "string", multiple: true, default: [] },
  },
});
const [command, ...args] = process.argv.slice(split + 1);

/** What one prompt brought, in words that all peer clients share. */
class Turn {
  seen = { text: "", thought: "", tools: {}, plan: [], asked: [], kinds: [] };

  constructor() {
    this.firstUpdate = new Promise((resolve) => (this.started = resolve));
    this.idle = new Promise((resolve) => (this.over = resolve));
  }

  take(update) {
    const kind = update.sessionUpdate;
    this.seen.kinds.push(kind);
    if (kind === "agent_message_chunk") this.seen.text += update.content.text ?? "";
    if (kind === "agent_thought_chunk") this.seen.thought += update.content.text ?? "";
    if (kind === "agent_message") this.seen.text = (update.content ?? []).map((block) => block.text ?? "").join("");
    if (kind === "tool_call" || kind === "tool_call_update") this.takeCall(update);
    if (kind === "tool_call_content_chunk") {
      const facts = this.seen.tools[update.toolCallId];
      this.takeContent(facts, [...(facts.items ?? []), update.content]);
    }
    if (kind === "plan") this.takePlan(update.entries);
    if (kind === "plan_update" && update.plan.type === "items") this.takePlan(update.plan.entries);
    if (kind.startsWith("agent_message") || kind.startsWith("tool_call")) this.started();
    if (kind === "state_update" && update.state === "idle") this.over(update.stopReason);
  }

  takeCall({ toolCallId, title, kind, status, content }) {
    const facts = (this.seen.tools[toolCallId] ??= {});
    for (const [name, value] of Object.entries({ title, kind, status })) if (value != null) facts[name] = value;
    if (content != null) this.takeContent(facts, content);
  }

  takeContent(facts, content) {
    facts.items = content;
    facts.content = content.map((item) => item.type);
    facts.paths = content
      .filter((item) => item.type === "diff")
      .flatMap((item) => (isV2 ? item.changes.map((change) => change.path ?? change.newPath) : [item.path]));
  }

  takePlan(entries) {
    this.seen.plan = entries.map(({ content, status }) => [content, status]);
  }
}

let turn = new Turn();

function permission({ params }) {
  const title = isV2 ? params.title : params.toolCall.title;
  turn.seen.asked.push([title, params.options.map((option) => option.kind)]);
  const chosen = params.options.find((option) => option.kind.startsWith(options.answer));
  return { outcome: chosen ? { outcome: "selected", optionId: chosen.optionId } : { outcome: "cancelled" } };
}

function readTextFile({ params: { path, line, limit } }) {
  const lines = readFileSync(path, "utf8").split(/(?<=\n)/);
  const start = (line ?? 1) - 1;
  return { content: lines.slice(start, limit == null ? undefined : start + limit).join("") };
}

const terminals = new Map();

function createTerminal({ params: { command, args, cwd } }) {
  const terminalId = `terminal-${terminals.size + 1}`;
  const terminal = { output: "", child: spawn(command, args ?? [], { cwd, stdio: ["ignore", "pipe", "pipe"] }) };
  for (const stream of [terminal.child.stdout, terminal.child.stderr]) {
    stream.on("data", (data) => (terminal.output += data));
  }
  terminal.exit = new Promise((resolve) => {
    terminal.child.on("close", (exitCode, signal) => resolve((terminal.status = { exitCode, signal })));
    terminal.child.on("error", () => resolve((terminal.status = { exitCode: 127, signal: null })));
  });
  terminals.set(terminalId, terminal);
  return { terminalId };
}

const terminalOf = ({ params }) => terminals.get(params.terminalId);

function serveV1(app) {
  return app
    .onRequest(methods.fs.readTextFile, readTextFile)
    .onRequest(methods.fs.writeTextFile, ({ params }) => {
      writeFileSync(params.path, params.content);
      return {};
    })
    .onRequest(methods.terminal.create, createTerminal)
    .onRequest(methods.terminal.waitForExit, (context) => terminalOf(context).exit)
    .onRequest(methods.terminal.output, (context) => {
      const { output, status } = terminalOf(context);
      return { output, truncated: false, exitStatus: status };
    })
    .onRequest(methods.terminal.kill, (context) => {
      terminalOf(context).child.kill();
      return {};
    })
    .onRequest(methods.terminal.release, (context) => {
      terminalOf(context).child.kill();
      return {};
    });
}

async function runTurn(agent, sessionId, text) {
  turn = new Turn();
  const mine = turn;
  const prompt = agent.request(theirs.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  if (options.cancel) {
    await mine.firstUpdate;
    await agent.notify(theirs.session.cancel, { sessionId });
  }
  const response = await prompt;
  const stop = isV2 ? await mine.idle : response.stopReason;
  // Handlers of updates that came before the response may still be running.
  await new Promise((resolve) => setTimeout(resolve, 50));
  return { stop, ...mine.seen };
}

async function settings(agent, { sessionId, modes, configOptions }) {
  if (options.mode) await agent.request(theirs.session.setMode, { sessionId, modeId: options.mode });
  for (const pair of options.config) {
    const [configId, value] = pair.split("=");
    const asked = { sessionId, configId, value, ...(isV2 ? { type: "id" } : {}) };
    ({ configOptions } = await agent.request(theirs.session.setConfigOption, asked));
  }
  const current = (configOptions ?? []).map((option) => [isV2 ? option.configId : option.id, option.currentValue]);
  return { modes: (modes?.availableModes ?? []).map((mode) => mode.id), config: Object.fromEntries(current) };
}

const info = { name: "ts-sdk-client", version: "1" };
const hello = isV2
  ? { info, capabilities: { elicitation: { form: {} } } }
  : {
      clientInfo: info,
      clientCapabilities: {
        fs: { readTextFile: true, writeTextFile: true },
        terminal: true,
        elicitation: { form: {} },
      },
    };

async function work(agent) {
  const answer = await agent.request(theirs.initialize, { protocolVersion: acp.PROTOCOL_VERSION, ...hello });
  const session = await agent.request(theirs.session.new, { cwd: options.cwd, mcpServers: [] });
  const seen = { protocol: answer.protocolVersion, agent: (answer.info ?? answer.agentInfo)?.name ?? null };
  Object.assign(seen, await settings(agent, session), { turns: [] });
  for (const text of options.prompt) seen.turns.push(await runTurn(agent, session.sessionId, text));
  return seen;
}

const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const app = acp
  .client({ name: "ts-sdk-client" })
  .onNotification(methods.session.update, ({ params }) => turn.take(params.update))
  .onRequest(methods.session.requestPermission, permission)
  .onRequest(methods.elicitation.create, ({ params }) => {
    turn.seen.asked.push([params.message, params.mode]);
    return { action: "accept", content: { name: "Ada" } };
  });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const seen = await (isV2 ? app : serveV1(app)).connectWith(stream, work);
console.log(JSON.stringify(seen));
child.stdin.end();
setTimeout(() => child.kill(), 2000).unref();
child.on("exit", () => process.exit(0));
