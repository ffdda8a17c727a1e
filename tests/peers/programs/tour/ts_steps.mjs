// What the TypeScript programs of the tour share: which methods an SDK has, and what earlier answers gave.

// The SDKs list requests and notifications alike.
const NOTIFICATIONS = /^(session\/(cancel|update)|elicitation\/complete|document\/.*|nes\/(accept|reject)|\$\/.*)$/;

/** The methods of one side's table of the SDK, by kind. */
export function known(methods, side) {
  const all = [];
  const walk = (value) => (typeof value === "string" ? all.push(value) : Object.values(value).forEach(walk));
  walk(methods[side]);
  walk(methods.protocol);
  // Without connections of its own, an SDK has a name for their messages and nothing to read them with.
  const names = all.filter((name) => !name.startsWith("mcp/") || methods.client.mcp?.connect);
  const requests = names.filter((name) => !NOTIFICATIONS.test(name));
  // The SDK hears those of its own by itself. One method is both.
  const heard = (name) => (NOTIFICATIONS.test(name) && !name.startsWith("$/")) || name === "mcp/message";
  const notifications = names.filter(heard);
  return { requests, notifications, has: ({ method }) => names.includes(method) };
}

/** A value with what `$name` stands for; undefined when something in it is not known. */
export function filled(value, kept) {
  if (typeof value === "string" && /^\$\w+$/.test(value)) return kept[value.slice(1)];
  if (value === null || typeof value !== "object") return value;
  const made = Array.isArray(value) ? [] : {};
  for (const [name, each] of Object.entries(value)) {
    made[name] = filled(each, kept);
    if (made[name] === undefined) return undefined;
  }
  return made;
}

/** Remember what later steps name. */
export function keep(kept, method, result) {
  if (method === "session/new") kept.session = result.sessionId;
  if (method === "nes/start") kept.nes = result.sessionId;
  if (method === "nes/suggest") [kept.suggestion, kept.second] = result.suggestions.map((each) => each.id ?? each.suggestionId);
  if (method === "terminal/create") kept.terminal = result.terminalId;
  if (method === "mcp/connect") kept.mcp = result.connectionId;
}
