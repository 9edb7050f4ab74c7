// What one can do with a finished run: an own formula beside those found, and predictions for a new file.
import { post, predict } from "./api.js";
import { card, complain, el, field, say } from "./dom.js";

export function ownCard(run) {
  const input = el("input", { type: "text", spellcheck: "false", id: "own-formula", placeholder: "a*x/(b + x)" });
  const button = el("button", { type: "submit" }, "Fit its constants and compare");
  const form = el("form", { class: "line", on: { submit: async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      const { text } = await post("own", { run: run.name, formula: input.value });
      run.chosen = text;
      await run.reload();
      say("Your formula is in the table.");
    } catch (error) {
      complain(error.message);
    } finally {
      button.disabled = false;
    }
  } } }, field("Your formula", input, `In the names of the columns (${(run.result.names ?? []).slice(0, 6).join(", ")}); other names are constants to fit.`), button);
  return card("My own formula", form);
}

export function predictCard(run) {
  const shown = el("div", { "aria-live": "polite" });
  const input = el("input", { type: "file", id: "new-rows", accept: ".csv,.tsv,.txt,.dat,.xlsx,.xls,.ods,.parquet,.pq" });
  input.addEventListener("change", async () => {
    if (!input.files[0]) return;
    try {
      const { text, note } = await predict(run.name, run.chosenText(), input.files[0]);
      const link = el("a", { class: "button", href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: "predicted.csv" }, "Save predicted.csv");
      const rows = text.split("\n").slice(0, 6).filter(Boolean);
      const missing = note.missing ? ` ${note.missing} rows have no value${note.domain.length ? `; the formula holds where ${note.domain.join(" and ")}` : ""}.` : "";
      shown.replaceChildren(el("p", {}, `${note.rows} rows, with the column ${note.column}.${missing} `, link), el("pre", { tabindex: "0", role: "region", "aria-label": "First rows" }, rows.join("\n")));
    } catch (error) {
      complain(error.message);
    }
    input.value = "";
  });
  return card("Predictions for a new file", field("A table with the columns of the chosen formula", input), shown);
}
