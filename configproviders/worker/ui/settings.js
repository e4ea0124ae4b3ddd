// The settings in the form: those that the plugin defines, in groups, and any others.

import { copyOf, setText } from "./dom.js";
import { Extra, Field } from "./field.js";

/** What is filled in, wherever it stands. */
export class Settings {
  /** Take the elements for groups and for others; *leftOut* are keys that stand elsewhere. */
  constructor(groups, others, leftOut) {
    Object.assign(this, { groups, others, leftOut });
    this.fields = new Map();
    this.families = [];
    this.extras = new Set();
  }

  /** Show what *definitions* say; what was filled in stays. */
  define(definitions) {
    const before = this.config();
    this.fields.clear();
    this.families = [];
    this.extras.forEach((extra) => this.drop(extra));
    this.groups.replaceChildren(...this.groupsOf(definitions));
    this.fill(before);
  }

  /** Return what is filled in, without what is empty. */
  config() {
    const parts = [...this.fields.values(), ...this.extras];
    const entries = parts.map(({ name, value }) => [name, value]);
    return Object.fromEntries(entries.filter(([name, value]) => name && value));
  }

  /** Fill *config* in, beside what is there. */
  fill(config) {
    for (const [name, value] of Object.entries(config)) {
      const part = this.find(name);
      if (part) {
        part.value = value;
      } else if (!this.leftOut.includes(name)) {
        this.add(name, value);
      }
    }
  }

  /** Add a setting that has no definition, to its family if it has one. */
  add(name = "", value = "") {
    const extra = new Extra(name, value);
    const family = name && this.families.find(({ prefix }) => name.startsWith(prefix));
    this.extras.add(extra);
    (family ? family.extras : this.others).append(extra.element);
    extra.remove.addEventListener("click", () => {
      const place = extra.element.parentElement;
      this.drop(extra);
      place.dispatchEvent(new Event("input", { bubbles: true })); // What is filled in is less.
      place.nextElementSibling.focus(); // The button that adds one.
    });
    return extra;
  }

  /** Leave nothing filled in. */
  clear() {
    this.fields.forEach((field) => (field.value = ""));
    this.extras.forEach((extra) => this.drop(extra));
  }

  /** Show *findings* of the worker where they belong; return messages that belong nowhere here. */
  show(findings, isAsked) {
    const others = [];
    for (const { name, errors, recommended_values: recommended, visible } of findings) {
      const part = this.find(name);
      part?.show({ errors, recommended, visible, isAsked });
      others.push(...(part ? [] : errors.map((error) => `${name}: ${error}`)));
    }
    return isAsked ? others : [];
  }

  find(name) {
    return this.fields.get(name) ?? [...this.extras].find((extra) => extra.name === name);
  }

  drop(extra) {
    this.extras.delete(extra);
    extra.element.remove();
  }

  /** Return the elements of all groups; the name of the connector comes first, in none. */
  groupsOf(definitions) {
    const byGroup = new Map([["", []]]);
    for (const definition of definitions.filter(({ name }) => !this.leftOut.includes(name))) {
      const group = definition.name === "name" ? "" : definition.group || "Settings";
      byGroup.set(group, [...(byGroup.get(group) ?? []), this.newPart(definition)]);
    }
    const [[, first], ...groups] = byGroup;
    return [...first.map(({ element }) => element), ...groups.map(([name, parts]) => groupOf(name, parts))];
  }

  newPart(definition) {
    if (definition.name.includes("<")) {
      return this.newFamily(definition);
    }
    const field = new Field(definition);
    this.fields.set(definition.name, field);
    return field;
  }

  /** Return a place for settings whose names begin alike, as sink.options.<name> says. */
  newFamily(definition) {
    const family = { definition, prefix: definition.name.replace(/<.*/, ""), ...copyOf("family") };
    setText(family.label, definition.name);
    setText(family.doc, definition.documentation);
    family.add.ariaLabel = `Add ${definition.name}`;
    family.add.addEventListener("click", () => this.add(family.prefix).key.focus());
    this.families.push(family);
    return family;
  }
}

/** Return a group, with what is neither required nor important folded. */
function groupOf(name, parts) {
  const group = copyOf("group");
  const isMain = ({ definition }) => definition.required || definition.importance === "HIGH";
  const main = parts.filter(isMain);
  const more = parts.filter((part) => !isMain(part));
  setText(group.legend, name);
  group.fields.append(...main.map(({ element }) => element));
  group.moreFields.append(...more.map(({ element }) => element));
  const settings = more.length === 1 ? "setting" : "settings";
  setText(group.summary, `${more.length} ${main.length ? "more" : "optional"} ${settings}`);
  group.more.hidden = !more.length;
  return group.element;
}
