"use strict";
// A table of the data, to be read by people, by screen readers, and by whatever it is pasted into.

function tableElement(table, open) {
  const side = column => column < table.labels ? "label" : "";
  const head = element("tr", {}, ...table.columns.map((text, i) =>
    element("th", {scope: "col", className: side(i)}, text)));
  const lines = table.lines.map(line => element("tr", line.id ? {id: line.id} : {},
    ...line.cells.map((text, i) => element("td", {className: side(i)}, text))));
  const named = table.columns.some(text => text);
  const made = element("table", {ariaLabel: table.heading}, named ? element("thead", {}, head) : null,
    element("tbody", {}, ...lines));
  const copy = element("button", {type: "button", className: "copy"}, "Copy");
  copy.addEventListener("click", () => {
    copyText([table.columns, ...table.lines.map(line => line.cells)].map(cells => cells.join("\t")).join("\n"));
    copy.textContent = "Copied";
  });
  const scroll = element("div", {className: "scroll", tabIndex: 0}, made);
  return element("details", {open}, element("summary", {}, table.heading || "Table"), scroll, copy,
    sentenceList(table.sentences ?? []));
}

// The clipboard API is not there on every file:// page.
function copyText(text) {
  const area = element("textarea", {value: text});
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
