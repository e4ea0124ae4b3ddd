// A connector as JSON, as documentation and other tools have it.

/** Return the config in *text*, with the connector's name in it, or what is wrong. */
export function read(text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch (error) {
    const place = /line \d+ column \d+/.exec(error.message); // Not the text around it.
    return { error: `this is not JSON${place ? ` (${place[0]})` : ""}` };
  }
  const config = found?.config ?? found;
  if (typeof config !== "object" || config === null || Array.isArray(config)) {
    return { error: "write an object, of a config or of a name and a config" };
  }
  const named = found.config && found.name ? { name: found.name, ...config } : config;
  const texts = Object.entries(named).map(([key, value]) => [key, String(value ?? "")]);
  return { config: Object.fromEntries(texts) };
}
