// The measured agent on the official TypeScript SDK, protocol 2. ACP_SDK names the module of the SDK.
import { Readable, Writable } from "node:stream";

const acp = await import(process.env.ACP_SDK);
const { agent: methods, client: theirs } = acp.methods;

const options = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

async function stream(client, sessionId, count, size) {
  const text = "x".repeat(size);
  for (let i = 0; i < count; i++) {
    const update = { sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text } };
    await client.notify(theirs.session.update, { sessionId, update });
  }
}

async function ask(client, sessionId, count) {
  for (let i = 0; i < count; i++) {
    const subject = { type: "tool_call", toolCall: { toolCallId: "c", title: "Write a file" } };
    await client.request(theirs.session.requestPermission, { sessionId, title: "Write a file", subject, options });
  }
}

async function turn({ sessionId, prompt }, client) {
  const say = (update) => client.notify(theirs.session.update, { sessionId, update });
  const [job, a, b] = prompt[0].text.slice(0, 64).split(" ");
  await say({ sessionUpdate: "user_message", messageId: "u", content: prompt });
  await say({ sessionUpdate: "state_update", state: "running" });
  if (job === "stream") await stream(client, sessionId, +a, +b);
  if (job === "roundtrip") await Promise.all(Array.from({ length: +b }, () => ask(client, sessionId, Math.floor(a / b))));
  await say({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
}

acp
  .agent({ name: "measured" })
  .onRequest(methods.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    info: { name: "measured", version: "1" },
    capabilities: { session: {} },
  }))
  .onRequest(methods.session.new, () => ({ sessionId: "s" }))
  .onRequest(methods.session.list, () => ({ sessions: [] }))
  .onRequest(methods.session.prompt, ({ params, client }) => {
    // After this handler's return, so that the response goes out before the turn's updates.
    setTimeout(() => turn(params, client), 0);
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin), { maxMessageBytes: 2 ** 28 }));
