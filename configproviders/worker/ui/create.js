// The form that makes a connector, checked by the worker while it is filled in.

import * as api from "./api.js";
import { changed } from "./act.js";
import { partsOf, setMessage, setText } from "./dom.js";
import { choose } from "./list.js";
import { read } from "./pasted.js";
import { Settings } from "./settings.js";

const CLASS = "connector.class";
const DEBOUNCE_MS = 300;

/** Have the button open the form. */
export function setUpForm() {
  const form = new Form(document.getElementById("create"));
  document.getElementById("new").addEventListener("click", () => form.open());
}

class Form {
  findings = [];
  isAsked = false; // Whether somebody wanted to create it: then all that is missing is said.
  refused = "";

  constructor(dialog) {
    this.dialog = dialog;
    Object.assign(this, partsOf(dialog));
    this.form = dialog.querySelector("form");
    this.settings = new Settings(this.groups, this.others, [CLASS]);
    this.close.addEventListener("click", () => dialog.close());
    this.plugin.addEventListener("change", () => this.takePlugin());
    this.fill.addEventListener("click", () => this.takeJson());
    this.add.addEventListener("click", () => this.settings.add().key.focus());
    this.form.addEventListener("submit", (event) => this.submit(event));
    for (const place of [this.groups, this.others]) {
      place.addEventListener("input", () => this.checkSoon());
      place.addEventListener("focusout", () => this.showFindings());
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
      this.plugin.replaceChildren(...(await api.plugins()).map(optionOf));
      await this.takePlugin();
    } catch (error) {
      this.refuse(error.message);
    }
  }

  /** Show the settings of the chosen plugin. */
  async takePlugin() {
    const plugin = this.plugin.value;
    this.refuse("");
    try {
      const definitions = await api.definitions(plugin);
      if (plugin === this.plugin.value) {
        this.settings.define(definitions);
        this.checkSoon();
      }
    } catch (error) {
      this.refuse(error.message);
    }
  }

  async takeJson() {
    const { config, error } = read(this.json.value);
    setMessage(this.jsonError, error ?? "");
    if (error) {
      return;
    }
    await this.isLoaded;
    if (config[CLASS] && !isName(config[CLASS], this.plugin.value)) {
      this.choosePlugin(config[CLASS]);
      await this.takePlugin();
    }
    this.settings.fill(config);
    this.json.value = "";
    this.paste.open = false;
    this.checkSoon();
  }

  /** Choose a plugin by any of its names; one that is not listed may be allowed nevertheless. */
  choosePlugin(name) {
    const known = [...this.plugin.options].find(({ value }) => isName(name, value));
    this.plugin.append(...(known ? [] : [new Option(name, name)]));
    this.plugin.value = known?.value ?? name;
  }

  checkSoon() {
    clearTimeout(this.timer);
    const check = () => this.check().catch((error) => this.refuse(error.message));
    this.timer = setTimeout(check, DEBOUNCE_MS);
  }

  /** Have the worker say what is wrong; return whether nothing is. */
  async check() {
    clearTimeout(this.timer);
    const turn = (this.turn = Symbol("turn"));
    const plugin = this.plugin.value;
    const answer = await api.validate(plugin, { ...this.settings.config(), [CLASS]: plugin });
    if (turn === this.turn) {
      this.findings = answer.configs.map(({ value }) => value);
      this.refuse("");
    }
    return answer.error_count === 0;
  }

  refuse(message) {
    this.refused = message;
    this.showFindings();
  }

  showFindings() {
    const others = this.settings.show(this.findings, this.isAsked);
    const wrong = this.findings.filter(({ errors }) => errors.length).length;
    setMessage(this.refusal, [this.refused, ...others].filter(Boolean).join("\n"));
    setText(this.verdict, this.findings.length ? verdictOn(wrong) : "");
  }

  async submit(event) {
    event.preventDefault();
    this.isAsked = true;
    try {
      if (await this.check()) {
        const config = this.settings.config();
        await api.create(config.name, { ...config, [CLASS]: this.plugin.value });
        this.leave(config.name);
      } else {
        this.form.querySelector("[aria-invalid=true]")?.focus();
      }
    } catch (error) {
      this.refuse(error.message);
    }
  }

  /** Close, empty for the next, and show the connector that was made. */
  leave(name) {
    this.dialog.close();
    this.isAsked = false;
    this.settings.clear();
    this.checkSoon();
    choose(name);
    changed();
  }
}

function optionOf({ class: className, type }) {
  const option = new Option(`${api.shortName(className)} · ${type}`, className);
  option.title = className;
  return option;
}

function verdictOn(wrong) {
  if (!wrong) {
    return "All settings are right";
  }
  return `${wrong} ${wrong === 1 ? "setting is" : "settings are"} not right yet`;
}

/** Tell whether *name* means the plugin *className*: as a whole, or its last part, as in Kafka. */
function isName(name, className) {
  const short = api.shortName(className);
  return [className, short, short.replace(/Connector$/, "")].includes(name);
}
