// What is known of one connector: its tasks, errors, config and secrets.

import * as api from "./api.js";
import { confirmDelete, onClick } from "./act.js";
import { copyOf, setMoment, setNumber, setState, setText, showEach } from "./dom.js";

const REFERENCE = /(\$\{[^{}]*\}|\$<[^<>]*>)/;
const SECRET_KEY = /secret|password|token|access[.]?key/i;
const passwords = new Map(); // The names of settings that hold passwords, by plugin.

/** The row below a connector's own. */
export class Details {
  constructor(name) {
    Object.assign(this, copyOf("details"));
    onClick(this.stop, () => api.stop(name));
    onClick(this.delete, async () => (await confirmDelete(name)) && (await api.remove(name)));
  }

  show({ name, status, info, progress, secrets }) {
    const { state, trace } = status.connector;
    const plugin = info.config["connector.class"];
    this.stop.hidden = state === "STOPPED";
    this.failure.hidden = !trace;
    setText(this.trace, trace ?? "");
    const tasks = status.tasks.map((task) => ({ ...task, ...progress?.[task.id] }));
    this.noTasks.hidden = tasks.length > 0;
    this.tasks.parentElement.hidden = !tasks.length;
    showEach(this.tasks, tasks, ({ id }) => id, ({ id }) => taskRow(name, id));
    showEach(this.traces, tasks.filter((task) => task.trace), ({ id }) => id, taskTrace);
    this.showConfig(info.config, passwords.get(plugin));
    this.noSecrets.hidden = Boolean(secrets?.length);
    showEach(this.secrets, secrets ?? [], ({ reference }) => reference, secretItem);
    if (!passwords.has(plugin)) {
      this.learn(plugin, info.config);
    }
  }

  showConfig(config, secretKeys) {
    const settings = Object.keys(config).sort().map((key) => {
      const isSecret = SECRET_KEY.test(key) || (secretKeys?.has(key) ?? true);
      return { key, value: config[key], isSecret };
    });
    showEach(this.config, settings, ({ key }) => key, settingRow);
  }

  /** Ask which settings hold passwords. Until it is known, only references are shown. */
  async learn(plugin, config) {
    passwords.set(plugin, undefined);
    try {
      const found = await api.definitions(plugin);
      const keys = found.filter(({ type }) => type === "PASSWORD").map((each) => each.name);
      passwords.set(plugin, new Set(keys));
    } catch {
      passwords.set(plugin, new Set()); // The plugin is gone: its key must do.
    }
    this.showConfig(config, passwords.get(plugin));
  }
}

function taskRow(name, id) {
  const row = copyOf("task");
  setText(row.id, String(id));
  row.restart.ariaLabel = `Restart task ${id} of ${name}`;
  onClick(row.restart, () => api.restartTask(name, id));
  row.show = ({ state, rows, rows_per_second: rate }) => {
    setState(row.state, state);
    setNumber(row.rows, rows);
    setNumber(row.rate, rate);
  };
  return row;
}

function taskTrace({ id }) {
  const part = copyOf("trace");
  setText(part.title, `Error of task ${id}`);
  return { element: part.element, show: ({ trace }) => setText(part.trace, trace) };
}

function settingRow({ key }) {
  const row = copyOf("setting");
  setText(row.key, key);
  row.show = ({ value, isSecret }) => row.value.replaceChildren(...marked(value, isSecret));
  return row;
}

/** Return a value with its references marked, and the rest left out if it is secret. */
function marked(value, isSecret) {
  return value.split(REFERENCE).filter(Boolean).map((text) => {
    const element = document.createElement(REFERENCE.test(text) ? "code" : "span");
    if (REFERENCE.test(text)) {
      element.className = "reference";
    }
    element.textContent = isSecret && !REFERENCE.test(text) ? "•••" : text;
    return element;
  });
}

function secretItem({ reference }) {
  const item = copyOf("secret");
  setText(item.reference, reference);
  item.show = ({ config_keys: keys, resolved_at: resolved, changed_at: changed }) => {
    setText(item.keys, keys.join(", "));
    setMoment(item.resolved, resolved);
    setMoment(item.changed, changed);
  };
  return item;
}
