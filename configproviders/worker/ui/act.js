// Buttons that ask the worker for something.

import { setMessage } from "./dom.js";

/**
 * Have a click on *button* do *act*; clicks that come meanwhile do nothing.
 *
 * The button is not disabled, which would take the focus away. What the worker refuses is shown at
 * the top; after what it does the list is asked for anew.
 */
export function onClick(button, act) {
  button.addEventListener("click", async () => {
    if (button.ariaBusy === "true") {
      return;
    }
    button.ariaBusy = "true";
    try {
      await act();
      report("");
    } catch (error) {
      report(error.message);
    } finally {
      button.ariaBusy = "false";
      changed();
    }
  });
}

/** Tell that connectors are not what they were. */
export function changed() {
  document.dispatchEvent(new Event("changed"));
}

/** Ask whether connector *name* is to be deleted. */
export async function confirmDelete(name) {
  const dialog = document.getElementById("delete");
  dialog.querySelector("[data-part=name]").textContent = name;
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((closed) => dialog.addEventListener("close", closed, { once: true }));
  return dialog.returnValue === "delete";
}

function report(message) {
  setMessage(document.getElementById("refusal"), message);
}
