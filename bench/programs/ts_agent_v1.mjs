// The measured agent on the official TypeScript SDK, protocol 1. ACP_SDK names the module of the SDK.
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
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
    await client.notify(theirs.session.update, { sessionId, update });
  }
}

async function ask(client, sessionId, count) {
  for (let i = 0; i < count; i++) {
    const toolCall = { toolCallId: "c", title: "Write a file" };
    await client.request(theirs.session.requestPermission, { sessionId, toolCall, options });
  }
}

async function prompt({ params: { sessionId, prompt }, client }) {
  const [job, a, b] = prompt[0].text.slice(0, 64).split(" ");
  if (job === "stream") await stream(client, sessionId, +a, +b);
  if (job === "roundtrip") await Promise.all(Array.from({ length: +b }, () => ask(client, sessionId, Math.floor(a / b))));
  return { stopReason: "end_turn" };
}

acp
  .agent({ name: "measured" })
  .onRequest(methods.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: { sessionCapabilities: { list: {} } },
  }))
  .onRequest(methods.session.new, () => ({ sessionId: "s" }))
  .onRequest(methods.session.list, () => ({ sessions: [] }))
  .onRequest(methods.session.prompt, prompt)
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin), { maxMessageBytes: 2 ** 28 }));
