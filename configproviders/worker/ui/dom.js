// What is shown goes through here: text stays text, and what has not changed is not touched, so that
// focus, selection and scroll positions outlive a refresh.

/** Return a copy of what is in a <template>, and its parts by their data-part. */
export function copyOf(template) {
  const element = document.getElementById(template).content.firstElementChild.cloneNode(true);
  return { element, ...partsOf(element) };
}

/** Return the elements in *element* that have a data-part, by its name. */
export function partsOf(element) {
  const found = element.querySelectorAll("[data-part]");
  return Object.fromEntries([...found].map((part) => [part.dataset.part, part]));
}

/** Show *text* in *element*. */
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** Show *text* in *element*, and hide it when there is none. */
export function setMessage(element, text) {
  setText(element, text);
  element.hidden = !text;
}

const children = new WeakMap();

/**
 * Have *parent* hold an element for each of *items*, in their order, among those it has anyway.
 *
 * *key* names an item. *make* returns {element, show}; show(item) is called when the item is not
 * what it was. Elements of items that stay are kept.
 */
export function showEach(parent, items, key, make) {
  const before = children.get(parent) ?? new Map();
  const now = new Map(items.map((item) => [key(item), null]));
  for (const [name, child] of before) {
    if (!now.has(name)) {
      child.element.remove();
    }
  }
  const first = [...before.values()].find((child) => child.element.parentNode === parent);
  let place = first?.element ?? null;
  for (const item of items) {
    const child = before.get(key(item)) ?? make(item);
    now.set(key(item), child);
    if (child.element === place) {
      place = place.nextElementSibling;
    } else {
      parent.insertBefore(child.element, place);
    }
    const text = JSON.stringify(item);
    if (child.text !== text) {
      child.text = text;
      child.show(item);
    }
  }
  children.set(parent, now);
}

/** Show a state in words; its colour and sign come from the style sheet. */
export function setState(element, state) {
  setText(element, state.toLowerCase());
  element.dataset.state = state;
}

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** Return *value* as a text. */
export function numberText(value) {
  return number.format(value);
}

/** Show a number, or a dash where it is not known. */
export function setNumber(element, value) {
  const isKnown = typeof value === "number";
  setText(element, isKnown ? numberText(value) : "–");
  element.classList.toggle("unknown", !isKnown);
}

const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** Have a <time> show a moment, an ISO text or null, as how long ago it was. */
export function setMoment(element, moment) {
  if (moment) {
    element.dateTime = moment;
    element.title = new Date(moment).toLocaleString();
  } else {
    element.removeAttribute("datetime");
    element.removeAttribute("title");
  }
  showAge(element);
}

/** Bring the ages in all <time> elements up to date. */
export function showAges() {
  document.querySelectorAll("time").forEach(showAge);
}

function showAge(element) {
  if (!element.dateTime) {
    setText(element, "never");
    return;
  }
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(element.dateTime)) / 1000));
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ["second", 1];
  setText(element, relative.format(-Math.floor(seconds / size), unit));
}
