// The list of connectors: a row for each, with its details below the one that is chosen.

import * as api from "./api.js";
import { onClick } from "./act.js";
import { Details } from "./details.js";
import { copyOf, numberText, setNumber, setState, setText, showEach } from "./dom.js";

const STATES = ["FAILED", "RUNNING", "PAUSED", "STOPPED", "RESTARTING", "UNASSIGNED"];
const table = document.getElementById("connectors");
const filter = document.getElementById("filter");
const states = document.getElementById("states");
const none = document.getElementById("none");
let connectors;
let onlyState = "";
let inView = ""; // The chosen connector that was brought into view.

/** Have the filters work, and the address name the connector whose details are open. */
export function setUpList() {
  filter.addEventListener("input", show);
  addEventListener("hashchange", show);
}

/** Show *all* connectors. */
export function showConnectors(all) {
  connectors = all;
  show();
}

function show() {
  if (!connectors) {
    return;
  }
  const words = filter.value.toLowerCase();
  const shown = connectors.filter(
    (each) =>
      (!onlyState || statesOf(each).has(onlyState)) &&
      `${each.name} ${each.info.config["connector.class"]}`.toLowerCase().includes(words),
  );
  const chosen = chosenName();
  const items = shown.map((each) => ({ ...each, isChosen: each.name === chosen }));
  showEach(table, items, (each) => each.name, (each) => new Row(each.name));
  if (chosen !== inView) {
    table.querySelector(".name[aria-expanded=true]")?.scrollIntoView({ block: "nearest" });
    inView = chosen;
  }
  showCounts();
  none.hidden = shown.length > 0;
  setText(none, connectors.length ? "No connector is like that." : "There are no connectors yet.");
}

function showCounts() {
  const counts = STATES.map((state) => ({
    state,
    count: connectors.filter((each) => statesOf(each).has(state)).length,
    isOn: state === onlyState,
  }));
  const shown = counts.filter(({ count, isOn }) => count || isOn);
  showEach(states, shown, ({ state }) => state, stateButton);
}

function stateButton({ state }) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "state";
  element.dataset.state = state;
  element.addEventListener("click", () => {
    onlyState = onlyState === state ? "" : state;
    show();
  });
  return {
    element,
    show({ count, isOn }) {
      setText(element, `${numberText(count)} ${state.toLowerCase()}`);
      element.ariaPressed = String(isOn);
    },
  };
}

/** A connector with a task that failed counts as failed too. */
function statesOf({ status }) {
  const found = new Set([status.connector.state]);
  if (status.tasks.some((task) => task.state === "FAILED")) {
    found.add("FAILED");
  }
  return found;
}

function chosenName() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // Somebody wrote it by hand.
  }
}

/** Open the details of connector *name*; none if it is empty. */
export function choose(name) {
  const { pathname, search } = location;
  history.pushState(null, "", name ? `#${encodeURIComponent(name)}` : pathname + search);
  show();
}

/** A connector in the list. */
class Row {
  constructor(name) {
    Object.assign(this, copyOf("connector"));
    setText(this.name, name);
    this.name.addEventListener("click", () => choose(this.details ? "" : name));
    onClick(this.pause, () => (this.isOn ? api.pause(name) : api.resume(name)));
    onClick(this.restart, () => api.restart(name));
  }

  show(connector) {
    const { info, status } = connector;
    const { state } = status.connector;
    const progress = Object.values(connector.progress ?? {});
    this.isOn = !["PAUSED", "STOPPED"].includes(state);
    setState(this.state, state);
    setText(this.plugin, `${api.shortName(info.config["connector.class"] ?? "")} · ${status.type}`);
    setText(this.tasks, tasksText(status.tasks));
    this.tasks.classList.toggle("failed", status.tasks.some((task) => task.state === "FAILED"));
    setNumber(this.rows, sum(progress, "rows"));
    setNumber(this.rate, sum(progress, "rows_per_second"));
    setText(this.error, lastError(status));
    setText(this.pause, this.isOn ? "Pause" : "Resume");
    this.pause.ariaLabel = `${this.pause.textContent} ${connector.name}`;
    this.restart.ariaLabel = `Restart ${connector.name}`;
    this.restart.hidden = !this.isOn;
    this.pause.hidden = state === "FAILED";
    this.showDetails(connector);
  }

  showDetails(connector) {
    this.name.ariaExpanded = String(connector.isChosen);
    if (!connector.isChosen) {
      this.details?.element.remove();
      this.details = undefined;
      return;
    }
    if (!this.details) {
      this.details = new Details(connector.name);
      this.element.append(this.details.element);
    }
    this.details.show(connector);
  }
}

function tasksText(tasks) {
  const counts = STATES.map((state) => [tasks.filter((task) => task.state === state).length, state]);
  const words = counts.filter(([count]) => count).map(([count, state]) => `${count}\u00a0${state.toLowerCase()}`);
  return words.join(", ") || "none";
}

function sum(progress, what) {
  const known = progress.map((task) => task[what]).filter((value) => typeof value === "number");
  return known.length ? known.reduce((one, other) => one + other) : null;
}

/** Return the line of a trace that says what happened, which is the first. */
function lastError({ connector, tasks }) {
  const trace = connector.trace || tasks.find((task) => task.trace)?.trace || "";
  return trace.split("\n", 1)[0];
}
