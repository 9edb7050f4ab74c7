"use strict";
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const points = all(".point");
  const peek = document.getElementById("peek");
  const said = document.getElementById("said");
  let current = document.body.dataset.picked;

  // The formula under the pointer or the focus, as it stands in the table.
  function show(index) {
    const cell = document.querySelector(`tr[data-row="${index}"] .shown`);
    peek.replaceChildren(...(cell ? [...cell.childNodes].map((node) => node.cloneNode(true)) : []));
  }

  function choose(index) {
    current = index;
    for (const part of all("[data-formula]")) part.hidden = part.dataset.formula !== index;
    for (const button of all("[data-choose]")) button.setAttribute("aria-pressed", String(button.dataset.choose === index));
    for (const point of points) point.tabIndex = point.dataset.choose === index ? 0 : -1;
    for (const row of all("tr[data-row]")) row.classList.toggle("current", row.dataset.row === index);
    show(index);
    said.textContent = `Formula ${index} is shown.`;
    history.replaceState(null, "", `#formula-${index}`);
  }

  async function copy(button) {
    const text = document.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    const label = button.textContent;
    button.textContent = "Copied";
    said.textContent = `${label} copied.`;
    setTimeout(() => { button.textContent = label; }, 1200);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) {
      if (button.textContent !== "Copied") copy(button);
      return;
    }
    const chosen = event.target.closest("[data-choose]");
    const row = event.target.closest("tr[data-row]");
    if (chosen) choose(chosen.dataset.choose);
    else if (row) choose(row.dataset.row);
  });

  points.forEach((point, at) => {
    point.addEventListener("mouseenter", () => show(point.dataset.choose));
    point.addEventListener("mouseleave", () => show(current));
    point.addEventListener("focus", () => show(point.dataset.choose));
    point.addEventListener("blur", () => show(current));
    point.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter" || event.key === " ") choose(point.dataset.choose);
      else if (step !== undefined) points[(at + step + points.length) % points.length].focus();
      else if (event.key === "Home") points[0].focus();
      else if (event.key === "End") points[points.length - 1].focus();
      else return;
      event.preventDefault();
    });
  });

  const asked = /^#formula-(\d+)$/.exec(location.hash);
  if (asked && document.querySelector(`[data-formula="${asked[1]}"]`)) choose(asked[1]);
  else show(current);
})();
