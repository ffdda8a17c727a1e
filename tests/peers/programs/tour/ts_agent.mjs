// An agent on the official TypeScript SDK that answers every method of its tables, and asks every one of the client's when
// it is prompted. ACP_SDK names the module of the SDK, TOUR the file with what is said.
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { filled, keep, known } from "./ts_steps.mjs";

const acp = await import(process.env.ACP_SDK);
const steps = JSON.parse(readFileSync(process.env.TOUR))[`v${acp.PROTOCOL_VERSION}`];
const { requests, notifications } = known(acp.methods, "agent");
const asked = known(acp.methods, "client");
const isV2 = acp.PROTOCOL_VERSION === 2;
const kept = {};

let pinged;
const wasPinged = new Promise((resolve) => (pinged = resolve));
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function ask(client, sessionId) {
  kept.session = sessionId;
  for (const step of steps.client) {
    const params = filled(step.params, kept);
    if (params === undefined || !asked.has(step)) continue;
    if (step.method === "mcp/disconnect") await wasPinged;
    if (!step.result) await client.notify(step.method, params);
    else keep(kept, step.method, await client.request(step.method, params));
  }
}

async function turn(client, sessionId) {
  const update = (update) => client.notify("session/update", { sessionId, update });
  const content = [{ type: "text", text: "tour" }];
  await update({ sessionUpdate: "user_message", messageId: "user-1", content });
  await update({ sessionUpdate: "state_update", state: "running" });
  await ask(client, sessionId);
  await update({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
}

const answers = Object.fromEntries(steps.agent.filter((step) => step.result).map((step) => [step.method, step.result]));
// What the SDK does not have is not announced.
const told = answers.initialize.capabilities ?? answers.initialize.agentCapabilities;
if (!requests.includes("nes/start")) delete told.nes;
if (!requests.includes("providers/list")) delete told.providers;
if (!asked.requests.includes("mcp/connect")) delete (told.session ?? told).mcp;

let app = acp.agent({ name: "tour" });
for (const method of requests) {
  if (!(method in answers) || method === "session/prompt") continue;
  app = app.onRequest(method, ({ params }) => {
    if (method === "mcp/message") pinged();
    // Our client lends its files as well.
    for (const { name, serverId } of params?.mcpServers ?? []) if (name === "lent") kept.server = serverId;
    kept.cwd = params?.cwd ?? kept.cwd;
    kept.file = `${kept.cwd}/tour.txt`;
    return filled(answers[method], kept);
  });
}
for (const method of notifications) app = app.onNotification(method, () => {});
app
  .onRequest("session/prompt", async ({ params: { sessionId }, client }) => {
    if (!isV2) {
      await ask(client, sessionId);
      return answers["session/prompt"];
    }
    wait(0).then(() => turn(client, sessionId));
    // Newer drafts ask for the id; this one ignores it.
    return { messageId: "user-1" };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
