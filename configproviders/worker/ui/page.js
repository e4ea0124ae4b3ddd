// Asks the worker how its connectors are, shows it, and goes on so while somebody looks.

import * as api from "./api.js";
import { setUpForm } from "./create.js";
import { setMessage, setText, showAges } from "./dom.js";
import { setUpList, showConnectors } from "./list.js";

const PAUSE_MS = 2_000;
const SHORT_PAUSE_MS = 300;
const HURRY = 6; // Refreshes with a short pause, when something was asked for that takes a moment.

const freshness = document.getElementById("freshness");
const unreachable = document.getElementById("unreachable");
let timer, asking, again, last;
let hurry = 0;

async function refresh() {
  clearTimeout(timer);
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  again = false;
  try {
    showConnectors(await api.connectors());
    last = new Date();
    show("");
  } catch (error) {
    show(error instanceof api.Unreachable ? "The worker cannot be reached." : `The worker says: ${error.message}`);
  }
  asking = false;
  if (again) {
    refresh();
  } else if (!document.hidden) {
    timer = setTimeout(refresh, hurry-- > 0 ? SHORT_PAUSE_MS : PAUSE_MS);
  }
}

function show(trouble) {
  showAges();
  document.body.classList.toggle("stale", Boolean(trouble));
  const from = last ? `What is below is from ${last.toLocaleTimeString()}. ` : "";
  setMessage(unreachable, trouble && `${trouble} ${from}Trying again.`);
  setText(freshness, last ? `as of ${last.toLocaleTimeString()}` : "");
}

document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : refresh()));
document.addEventListener("changed", () => {
  hurry = HURRY;
  refresh();
});
setUpList();
setUpForm();
refresh();
