"use strict";
// What the pages share. Whatever the data says is set as text, never as markup.

const $ = id => document.getElementById(id);

/** A new element; `content` is a string, a node, or a list of them. */
function element(tag, content = [], className = "") {
  const e = document.createElement(tag);
  e.append(...[content].flat());
  if (className) e.className = className;
  return e;
}

/**
 * The algorithm's text in `container`, from its first labelled line to its last. Returns a function that marks the line of each
 * process, given the label it stands at, or nothing for one that stands nowhere. Where several lines have a label, all are marked.
 */
function textPanel(container, texts) {
  const BEFORE = 4, AFTER = 3;
  const rows = new Map();  // label: rows
  container.replaceChildren();
  for (const one of texts) {
    if (!one.labels.length) continue;
    const lines = one.text.split("\n");
    const numbers = one.labels.map(l => l.line);
    const first = Math.max(1, Math.min(...numbers) - BEFORE), last = Math.min(lines.length, Math.max(...numbers) + AFTER);
    const table = element("table", element("caption", one.file), "code");
    const body = element("tbody");
    for (let n = first; n <= last; ++n) {
      const who = element("td", "", "who"), row = element("tr", [who, element("td", String(n), "line"), element("td", lines[n - 1], "source")]);
      row.dataset.line = n;
      for (const l of one.labels)
        if (l.line === n) rows.set(l.label, [...(rows.get(l.label) || []), row]);
      body.append(row);
    }
    table.append(body);
    container.append(table);
  }
  return labels => {
    for (const all of rows.values()) for (const row of all) { row.className = ""; row.firstChild.textContent = ""; }
    let first = null;
    labels.forEach((label, p) => {
      for (const row of rows.get(label) || []) {
        row.className = "here";
        row.firstChild.textContent += `p${p} `;
        first = first || row;
      }
    });
  };
}
