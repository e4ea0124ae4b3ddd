// The REST API of the worker, as far as the page needs it.

const root = new URL("../", import.meta.url);
const PATIENCE_MS = 15_000;

/** The worker does not answer. */
export class Unreachable extends Error {}

const named = (name) => `connectors/${encodeURIComponent(name)}`;
const plugin = (name) => `connector-plugins/${encodeURIComponent(name)}/config`;

/** Return the last part of the name of a class. */
export function shortName(className) {
  return className.split(/[.:]/).at(-1);
}

/** Return all connectors, in the order of their names. */
export async function connectors() {
  const expand = ["status", "info", "progress", "secrets"].map((part) => `expand=${part}`);
  const found = await ask("GET", `connectors?${expand.join("&")}`);
  return Object.entries(found)
    .filter(([, parts]) => parts.status && parts.info)
    .map(([name, parts]) => ({ name, ...parts }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

export const plugins = () => ask("GET", "connector-plugins");
export const definitions = (name) => ask("GET", plugin(name));
export const validate = (name, config) => ask("PUT", `${plugin(name)}/validate`, config);

export const create = (name, config) => ask("POST", "connectors", { name, config });
export const pause = (name) => ask("PUT", `${named(name)}/pause`);
export const resume = (name) => ask("PUT", `${named(name)}/resume`);
export const stop = (name) => ask("PUT", `${named(name)}/stop`);
export const restart = (name) => ask("POST", `${named(name)}/restart?includeTasks=true`);
export const restartTask = (name, task) => ask("POST", `${named(name)}/tasks/${task}/restart`);
export const remove = (name) => ask("DELETE", named(name));

async function ask(method, path, body) {
  const headers = { Accept: "application/json" };
  if (body) {
    headers["Content-Type"] = "application/json";
  }
  const signal = AbortSignal.timeout(PATIENCE_MS);
  let response, text;
  try {
    response = await fetch(new URL(path, root), {
      method, headers, signal, body: body && JSON.stringify(body),
    });
    text = await response.text();
  } catch (error) {
    throw new Unreachable("the worker cannot be reached", { cause: error });
  }
  const answer = parsed(text);
  if (!response.ok) {
    throw new Error(answer?.message || `${response.status} ${response.statusText}`);
  }
  return answer;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // No body, or the page of a proxy.
  }
}
