// What keeps people out of a page, one sentence each.
(() => {
  const found = [], seen = (e) => e.checkVisibility({ opacityProperty: false, visibilityProperty: true });
  const all = [...document.querySelectorAll("body *")].filter(seen);
  const ids = all.map((e) => e.id).filter(Boolean);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) found.push(`two elements have the id ${id}`);
  let level = 0;
  for (const e of all.filter((e) => /^H[1-6]$/.test(e.tagName))) {
    const mine = Number(e.tagName[1]);
    if (mine > level + 1) found.push(`heading "${e.textContent}" skips from ${level} to ${mine}`);
    level = mine;
  }
  if (document.querySelectorAll("h1").length !== 1) found.push(`${document.querySelectorAll("h1").length} main headings`);
  if (document.querySelectorAll("main").length !== 1) found.push("no single main part");
  if (!document.documentElement.lang || !document.title) found.push("no language or no title");
  for (const e of all) {
    if (e.tabIndex > 0) found.push(`tab order is forced on ${e.outerHTML.slice(0, 80)}`);
    if (e.tagName === "TH" && !e.textContent.trim()) found.push("a table head without a word");
    const inText = e.tagName === "A" && getComputedStyle(e).display === "inline";
    if (/^(BUTTON|SELECT|INPUT|TEXTAREA|SUMMARY)$/.test(e.tagName) || (e.tagName === "A" && !inText)) {
      const box = e.getBoundingClientRect();
      const hidden = e.classList.contains("visually-hidden") || e.type === "radio" || e.type === "checkbox";
      if (!hidden && (box.height < 24 || box.width < 24)) found.push(`a target of ${box.width}x${box.height}: ${e.outerHTML.slice(0, 80)}`);
    }
  }
  const rgb = (text) => { const m = text.match(/[\d.]+/g).map(Number); return [m[0], m[1], m[2], m.length > 3 ? m[3] : 1]; };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) layers.push(rgb(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, c) => over(c, under), [255, 255, 255, 1]);
  };
  for (const e of all) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.disabled || e.closest("[aria-hidden=true], .visually-hidden, svg, .skip, option")) continue;
    const style = getComputedStyle(e), under = ground(e), text = over(rgb(style.color), under);
    const [high, low] = [light(text), light(under)].sort((a, b) => b - a), ratio = (high + 0.05) / (low + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: "${e.textContent.trim().slice(0, 40)}" (${style.color} on ${under})`);
  }
  return [...new Set(found)];
})()
