"use strict";
// Builds the page from its data (html_parts.h says what is in it). Text goes in as text, never as HTML: file
// names may be anything.

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter(child => child !== null && child !== undefined && child !== ""));
  return made;
}

function quiet(text) {
  return text ? element("p", {className: "quiet"}, text) : null;
}

// So many links stand open; the others are a click away.
const linksShown = 6;

function linkList(links) {
  return links.flatMap((link, i) => [i ? ", " : " ", element("a", {href: "#" + link.target}, link.text)]);
}

function findingElement(finding) {
  const more = finding.links.slice(linksShown);
  return element("div", {className: "finding " + finding.severity},
    element("p", {}, element("span", {className: "severity"}, finding.severity), finding.text + " ",
      element("strong", {}, finding.remedy)),
    element("p", {className: "more"}, finding.id + (finding.source ? "; " + finding.source : "")),
    finding.links.length ? element("p", {className: "more"}, "see", ...linkList(finding.links.slice(0, linksShown))) : null,
    more.length ? element("details", {className: "more"}, element("summary", {}, `and ${more.length} more`),
      ...linkList(more)) : null);
}

function sentenceList(sentences) {
  if (!sentences.length) return "";
  return element("ul", {className: "sentences"}, ...sentences.map(text => element("li", {}, text)));
}

function blockElement(block) {
  const out = element("section", {className: "block"},
    block.title ? element("h3", {}, block.title) : null, quiet(block.note));
  if (block.plot) out.append(plotElement(block.plot, block.title));
  // Findings link to lines: such a table is open, as is one that has no plot before it and none beside it.
  for (const table of block.tables)
    out.append(tableElement(table, Boolean(table.lines[0]?.id) || !block.plot && block.tables.length === 1));
  out.append(sentenceList(block.sentences));
  return out;
}

function sectionElement(section) {
  return element("section", {id: section.id}, element("h2", {}, section.title), quiet(section.note),
    ...section.blocks.map(blockElement));
}

function downloadLink() {
  const record = document.getElementById("record").textContent;
  const link = element("a", {href: "#record", download: "iotrace.json"}, "the record as JSON");
  link.addEventListener("click", () => {
    link.href = URL.createObjectURL(new Blob([record], {type: "application/json"}));
  });
  return element("p", {className: "quiet"}, "Everything that this page says follows from ", link, ".");
}

function build() {
  const data = JSON.parse(document.getElementById("data").textContent);
  document.getElementById("head").append(...[element("h1", {}, data.title), quiet(data.subtitle), quiet(data.host),
    ...data.notes.map(note => element("p", {}, element("strong", {}, note)))].filter(Boolean));
  if (data.sections.length > 1)
    document.getElementById("head").append(element("nav", {ariaLabel: "Sections"}, element("ul", {},
      ...data.sections.map(section => element("li", {}, element("a", {href: "#" + section.id}, section.title))))));
  document.getElementById("main").append(
    element("section", {id: "findings"}, element("h2", {}, "Findings"),
      ...(data.findings.length ? data.findings.map(findingElement) : [element("p", {}, "No findings.")])),
    ...data.sections.map(sectionElement));
  document.getElementById("foot").append(element("h3", {}, "Host and settings"), tableElement(data.facts, true),
    downloadLink());
  followLooks();
  openTarget();
}

// A line that is linked to may be in a closed table.
function openTarget() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
}

document.addEventListener("DOMContentLoaded", build);
addEventListener("hashchange", openTarget);
