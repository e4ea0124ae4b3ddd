// The parts of the form: a setting that the plugin defines, and one that it does not.

import { copyOf, setMessage, setText } from "./dom.js";

const ONLY_REFERENCE = /^\$(\{[^}]*\}?|<[^>]*>?)?$/;
const HINT = "Write a reference, such as ${vault:secret/data/db:password}: what stands here is stored as it is.";
let count = 0;

/** A setting with a definition. */
export class Field {
  constructor(definition) {
    this.definition = definition;
    this.isSecret = definition.type === "PASSWORD";
    Object.assign(this, copyOf("field"));
    this.control = newControl(definition);
    this.choices = document.createElement("datalist");
    this.place.append(this.control, this.choices);
    const id = `setting-${(count += 1)}`;
    this.control.id = this.label.htmlFor = id;
    this.choices.id = `${id}-choices`;
    this.error.id = `${id}-error`;
    this.hint.id = `${id}-hint`;
    this.doc.id = `${id}-doc`;
    this.control.setAttribute("aria-describedby", `${id}-error ${id}-hint ${id}-doc`);
    setText(this.label, definition.name);
    setText(this.doc, docOf(definition));
    this.control.addEventListener("input", () => this.showSecret());
    this.control.addEventListener("blur", () => (this.wasLeft = true));
    if (definition.type === "BOOLEAN") {
      this.recommend(["true", "false"]);
    }
    this.showSecret();
  }

  get name() {
    return this.definition.name;
  }

  get value() {
    return this.control.value;
  }

  set value(text) {
    this.control.value = text;
    this.wasLeft = Boolean(text);
    this.showSecret();
  }

  /** Show what the worker found. */
  show({ errors, recommended, visible, isAsked }) {
    const isShown = isAsked || this.wasLeft || Boolean(this.value);
    setMessage(this.error, isShown ? errors.join("\n") : "");
    this.control.ariaInvalid = String(isShown && errors.length > 0);
    this.element.hidden = visible === false;
    if (recommended?.length) {
      this.recommend(recommended);
    }
    const folded = this.element.closest("details");
    if (folded && isAsked && errors.length) {
      folded.open = true;
    }
  }

  recommend(values) {
    this.choices.replaceChildren(...values.map((value) => new Option(value, value)));
    this.control.setAttribute("list", this.choices.id);
  }

  /** Show what a password field holds only while it is a reference. */
  showSecret() {
    if (this.isSecret) {
      const isReference = ONLY_REFERENCE.test(this.value);
      this.control.type = isReference ? "text" : "password";
      setMessage(this.hint, this.value && isReference ? "" : HINT);
      this.hint.classList.toggle("warning", Boolean(this.value));
    }
  }
}

/** A setting without a definition. */
export class Extra {
  constructor(key, value) {
    const { value: control, ...parts } = copyOf("extra");
    Object.assign(this, parts, { control });
    this.key.value = key;
    this.control.value = value;
  }

  get name() {
    return this.key.value.trim();
  }

  get value() {
    return this.control.value;
  }

  set value(text) {
    this.control.value = text;
  }

  /** Show what the worker found. */
  show({ errors }) {
    setMessage(this.error, errors.join("\n"));
    this.control.ariaInvalid = String(errors.length > 0);
  }
}

function newControl({ type, width, default_value: preset, required }) {
  const isLong = width === "LONG" && type !== "PASSWORD";
  const control = document.createElement(isLong ? "textarea" : "input");
  if (isLong) {
    control.rows = 1;
  }
  control.autocomplete = type === "PASSWORD" ? "new-password" : "off";
  control.autocapitalize = "none";
  control.spellcheck = false;
  control.ariaRequired = String(Boolean(required));
  control.placeholder = required ? "required" : preset || "";
  return control;
}

function docOf({ documentation, type }) {
  return [documentation, type === "LIST" ? "Several, with commas between them." : ""].filter(Boolean).join(" ");
}
