// A client on the official TypeScript SDK that calls every method of its tables, and answers every one of its own:
// ts_client.mjs CWD AGENT... ACP_SDK names the module of the SDK, TOUR the file with what is said.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { filled, keep, known } from "./ts_steps.mjs";

const acp = await import(process.env.ACP_SDK);
const steps = JSON.parse(readFileSync(process.env.TOUR))[`v${acp.PROTOCOL_VERSION}`];
const { requests, notifications } = known(acp.methods, "client");
const theirs = known(acp.methods, "agent");
const isV2 = acp.PROTOCOL_VERSION === 2;
const [cwd, command, ...args] = process.argv.slice(2);
const kept = { cwd, file: `${cwd}/tour.txt` };
const apart = {};

// There is only one answer of a kind; the page's has no content.
const answers = {};
for (const { method, params, result } of steps.client) {
  if (result) answers[method] ??= result;
}

let idle;
const over = new Promise((resolve) => (idle = resolve));
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
let app = acp.client({ name: "tour" });
for (const method of requests) {
  if (!(method in answers)) continue;
  app = app.onRequest(method, ({ params, agent }) => {
    if (method === "mcp/message") talk(agent, params.connectionId);
    return params?.mode === "url" ? { action: "accept" } : filled(answers[method], kept);
  });
}
for (const method of notifications) {
  app = app.onNotification(method, ({ params }) => {
    const update = params?.update;
    if (update?.sessionUpdate === "state_update" && update.state === "idle") idle();
  });
}

/** What the lent MCP server says once it was asked something. */
async function talk(agent, connectionId) {
  await agent.request("mcp/message", { connectionId, method: "ping", params: {} });
  await agent.notify("mcp/message", { connectionId, method: "notifications/progress", params: {} });
}

/** The answer; what the SDK's draft of the protocol does not take of it is told. */
async function answered(agent, { method }, params) {
  try {
    return await agent.request(method, params);
  } catch (error) {
    if (error.name !== "ZodError") throw error;
    apart[method] = error.issues.map((issue) => issue.path.join("."));
  }
}

async function work(agent) {
  for (const step of steps.agent) {
    const params = filled(step.params, kept);
    if (params === undefined || !theirs.has(step)) continue;
    if (step.method === "session/new" && !requests.includes("mcp/connect")) params.mcpServers = [];
    if (!step.result) {
      await agent.notify(step.method, params);
      continue;
    }
    const result = await answered(agent, step, params);
    if (result) keep(kept, step.method, result);
    if (isV2 && step.method === "session/prompt") await over;
  }
}

await app.connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), work);
console.log(JSON.stringify(apart));
child.stdin.end();
setTimeout(() => child.kill(), 2000).unref();
child.on("exit", () => process.exit(0));
