// The form that makes a connector, checked by the worker while it is filled in.

import * as api from "./api.js";
import { changed } from "./act.js";
import { copyOf, partsOf, setMessage, setText } from "./dom.js";
import { Extra, Field } from "./field.js";
import { choose } from "./list.js";

const CLASS = "connector.class";
const DEBOUNCE_MS = 300;

/** Have the button open the form. */
export function setUpForm() {
  const form = new Form(document.getElementById("create"));
  document.getElementById("new").addEventListener("click", () => form.open());
}

class Form {
  constructor(dialog) {
    this.dialog = dialog;
    Object.assign(this, partsOf(dialog));
    this.form = dialog.querySelector("form");
    this.fields = new Map();
    this.families = [];
    this.extras = new Set();
    this.close.addEventListener("click", () => dialog.close());
    this.plugin.addEventListener("change", () => this.takePlugin());
    this.fill.addEventListener("click", () => this.takeJson());
    this.add.addEventListener("click", () => this.addExtra().key.focus());
    this.form.addEventListener("submit", (event) => this.submit(event));
    for (const place of [this.groups, this.others]) {
      place.addEventListener("input", () => this.checkSoon());
      place.addEventListener("focusout", () => this.showErrors());
    }
  }

  open() {
    this.dialog.showModal();
    if (!this.plugin.options.length) {
      this.isLoaded = this.load();
    }
  }

  async load() {
    try {
      const plugins = await api.plugins();
      this.plugin.replaceChildren(...plugins.map(pluginOption));
      await this.takePlugin();
    } catch (error) {
      setMessage(this.refusal, error.message);
    }
  }

  /** Show the settings of the chosen plugin; what was typed stays. */
  async takePlugin() {
    const plugin = this.plugin.value;
    const definitions = await api.definitions(plugin).catch((error) => error);
    if (plugin !== this.plugin.value) {
      return; // Another was chosen meanwhile.
    }
    if (definitions instanceof Error) {
      setMessage(this.refusal, definitions.message);
      return;
    }
    const typed = this.config();
    this.fields.clear();
    this.families = [];
    this.groups.replaceChildren(...this.groupsOf(definitions));
    this.extras.forEach((extra) => extra.element.remove());
    this.extras.clear();
    this.takeConfig(typed);
  }

  groupsOf(definitions) {
    const byGroup = new Map([["name", []]]);
    for (const definition of definitions.filter(({ name }) => name !== CLASS)) {
      const group = definition.name === "name" ? "name" : definition.group || "Settings";
      byGroup.set(group, [...(byGroup.get(group) ?? []), this.newField(definition)]);
    }
    const [[, names], ...groups] = byGroup;
    return [...names.map(({ element }) => element), ...groups.map(([name, fields]) => group(name, fields))];
  }

  newField(definition) {
    if (definition.name.includes("<")) {
      return this.newFamily(definition);
    }
    const field = new Field(definition);
    this.fields.set(definition.name, field);
    return field;
  }

  /** Return a place for settings whose names begin alike. */
  newFamily(definition) {
    const family = { definition, prefix: definition.name.replace(/<.*/, ""), ...copyOf("family") };
    setText(family.label, definition.name);
    setText(family.doc, definition.documentation);
    family.add.ariaLabel = `Add ${definition.name}`;
    family.add.addEventListener("click", () => this.addExtra(family.prefix).key.focus());
    this.families.push(family);
    return family;
  }

  addExtra(key = "", value = "") {
    const extra = new Extra(key, value);
    const family = key && this.families.find(({ prefix }) => key.startsWith(prefix));
    this.extras.add(extra);
    (family ? family.extras : this.others).append(extra.element);
    extra.remove.addEventListener("click", () => {
      this.extras.delete(extra);
      extra.element.remove();
      this.checkSoon();
    });
    return extra;
  }

  /** Return what is filled in. */
  config() {
    const parts = [...this.fields.values(), ...this.extras];
    return Object.fromEntries(parts.map((part) => [part.name, part.value]).filter(([key, value]) => key && value));
  }

  /** Fill *config* in, beside what is there. */
  takeConfig(config) {
    for (const [key, value] of Object.entries(config)) {
      const part = this.fields.get(key) ?? [...this.extras].find((extra) => extra.name === key);
      if (part) {
        part.value = value;
      } else if (key !== CLASS) {
        this.addExtra(key, value);
      }
    }
    this.checkSoon();
  }

  async takeJson() {
    const { config, error } = read(this.json.value);
    setMessage(this.jsonError, error);
    if (error) {
      return;
    }
    await this.isLoaded;
    const plugin = config[CLASS];
    if (plugin && !isName(plugin, this.plugin.value)) {
      this.choose(plugin);
      await this.takePlugin();
    }
    this.takeConfig(config);
    this.json.value = "";
    this.paste.open = false;
  }

  /** Choose a plugin by any of its names; one that is not listed may be allowed nevertheless. */
  choose(plugin) {
    const known = [...this.plugin.options].find(({ value }) => isName(plugin, value));
    const option = known ?? new Option(plugin, plugin);
    this.plugin.append(...(known ? [] : [option]));
    this.plugin.value = option.value;
  }

  checkSoon() {
    this.refused = "";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check().catch((error) => setText(this.verdict, error.message)), DEBOUNCE_MS);
  }

  /** Have the worker say what is wrong; return whether nothing is. */
  async check() {
    clearTimeout(this.timer);
    const turn = (this.turn = Symbol("turn"));
    const plugin = this.plugin.value;
    const answer = await api.validate(plugin, { ...this.config(), [CLASS]: plugin });
    if (turn === this.turn) {
      this.findings = answer.configs.map(({ value }) => value);
      this.showErrors();
    }
    return answer.error_count === 0;
  }

  /** Show what was found: at fields that nobody has come to yet, only after a try to create. */
  showErrors() {
    const others = [];
    for (const { name, errors, recommended_values: recommended, visible } of this.findings ?? []) {
      const part = this.fields.get(name) ?? [...this.extras].find((extra) => extra.name === name);
      part?.show({ errors, recommended, visible, isAsked: Boolean(this.isAsked) });
      if (!part && this.isAsked) {
        others.push(...errors.map((error) => `${name}: ${error}`));
      }
    }
    const wrong = (this.findings ?? []).filter(({ errors }) => errors.length).length;
    setMessage(this.refusal, [this.refused, ...others].filter(Boolean).join("\n"));
    setText(this.verdict, wrong ? `${wrong} ${wrong === 1 ? "setting is" : "settings are"} not right yet` : "All settings are right");
  }

  async submit(event) {
    event.preventDefault();
    this.isAsked = true;
    try {
      if (!(await this.check())) {
        this.form.querySelector("[aria-invalid=true]")?.focus();
        return;
      }
      const config = this.config();
      await api.create(config.name, { ...config, [CLASS]: this.plugin.value });
      this.reset();
      choose(config.name);
      changed();
    } catch (error) {
      this.refused = error.message;
      this.showErrors();
    }
  }

  reset() {
    this.dialog.close();
    this.isAsked = false;
    this.findings = [];
    [...this.fields.values(), ...this.extras].forEach((part) => (part.value = ""));
    this.takePlugin();
  }
}

function pluginOption({ class: className, type }) {
  const option = new Option(`${api.shortName(className)} · ${type}`, className);
  option.title = className;
  return option;
}

function group(name, fields) {
  const part = copyOf("group");
  const isMain = ({ definition }) => definition.required || definition.importance === "HIGH";
  const main = fields.filter(isMain);
  const more = fields.filter((field) => !isMain(field));
  setText(part.legend, name);
  part.fields.append(...main.map(({ element }) => element));
  part.moreFields.append(...more.map(({ element }) => element));
  setText(part.summary, `${more.length} ${main.length ? "more" : "optional"} ${more.length === 1 ? "setting" : "settings"}`);
  part.more.hidden = !more.length;
  return part.element;
}

/** Return the config in *text*, with the name in it, or what is wrong. */
function read(text) {
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
  return { config: Object.fromEntries(Object.entries(named).map(([key, value]) => [key, String(value ?? "")])) };
}

/** Tell whether *name* means the plugin *className*: as a whole, or its last part, as in Kafka. */
function isName(name, className) {
  const short = api.shortName(className);
  return [className, short, short.replace(/Connector$/, "")].includes(name);
}
