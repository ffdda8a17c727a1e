// The measured client on the official TypeScript SDK: ts_client.mjs JOB [A [B [STALL]]] -- AGENT...
// ACP_SDK names the module of the SDK; its protocol version decides the shapes.
import { spawn } from "node:child_process";
import { performance } from "node:perf_hooks";
import { Readable, Writable } from "node:stream";

const acp = await import(process.env.ACP_SDK);
const { agent: theirs, client: methods } = acp.methods;
const isV2 = acp.PROTOCOL_VERSION === 2;

const split = process.argv.indexOf("--");
const [job, a = "0", b = "0", stall = "0"] = process.argv.slice(2, split);
const [command, ...args] = process.argv.slice(split + 1);

let handled = 0;
let gate;
let turnIsOver = () => {};

async function onUpdate({ params: { update } }) {
  if (gate) await gate;
  if (update.sessionUpdate === "agent_message_chunk") handled++;
  if (update.sessionUpdate === "state_update" && update.state === "idle") turnIsOver();
}

async function turn(agent, sessionId, text) {
  const over = isV2 ? new Promise((resolve) => (turnIsOver = resolve)) : undefined;
  await agent.request(theirs.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  await over;
}

async function ask(agent, count) {
  for (let i = 0; i < count; i++) await agent.request(theirs.session.list, {});
}

async function work(agent, sessionId, a, b) {
  if (job !== "ask") return turn(agent, sessionId, `${job} ${a} ${b}`);
  await Promise.all(Array.from({ length: b }, () => ask(agent, Math.floor(a / b))));
}

async function measure(agent) {
  await agent.request(theirs.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    ...(isV2 ? { info: { name: "measured", version: "1" }, capabilities: {} } : { clientCapabilities: {} }),
  });
  const { sessionId } = await agent.request(theirs.session.new, { cwd: "/tmp", mcpServers: [] });
  await work(agent, sessionId, Math.floor(a / 10), +b);
  handled = 0;
  if (+stall) gate = new Promise((resolve) => setTimeout(resolve, stall * 1000));
  const cpu = process.cpuUsage();
  const wall = performance.now();
  await work(agent, sessionId, +a, +b);
  // The response may overtake updates: the work is done when each was handled.
  while (job === "stream" && handled < +a) await new Promise(setImmediate);
  const seconds = (performance.now() - wall) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { seconds, cpu: (user + system) / 1e6, count: handled };
}

const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout), { maxMessageBytes: 2 ** 28 });
const figures = await acp
  .client({ name: "measured" })
  .onNotification(methods.session.update, onUpdate)
  .onRequest(methods.session.requestPermission, () => {
    handled++;
    return { outcome: { outcome: "selected", optionId: "allow" } };
  })
  .connectWith(stream, measure);
figures.peak_mib = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify(figures));
child.kill();
process.exit(0);
