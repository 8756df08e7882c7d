// The page of an attach: files, threads and a timeline, and the numbers that the record holds.

import assert from "node:assert/strict";
import {drawnPlots, hover, overflow, pageData, recordNamed, withPage} from "./page.mjs";

const record = recordNamed("attach");

await withPage(record, {}, async page => {
  const plots = await drawnPlots(page);
  for (const kind of ["bars", "distribution", "timeline"])
    assert.ok(plots.some(plot => plot.kind === kind), `no ${kind}`);
  for (const plot of plots) assert.ok(plot.coloured > 50, `${plot.kind} is blank: ${JSON.stringify(plot)}`);

  const data = await pageData(page);
  assert.deepEqual(data.sections.map(section => section.id), ["files", "threads", "timeline", "tables"]);

  // Each point of the first timeline: rates of the record's intervals.
  const first = plots.findIndex(plot => plot.kind === "timeline");
  const timeline = data.sections[2].blocks[0].plot;
  assert.equal(timeline.x.length, record.intervals.length);
  const faults = timeline.series.findIndex(series => series.name === "faults");
  for (const [i, interval] of record.intervals.entries()) {
    const rate = interval.fault_wait_s / interval.seconds;
    const shown = await hover(page, first, faults, i);
    assert.ok(Math.abs(Number(/faults: ([0-9.]+) threads/.exec(shown)[1]) - rate) <= rate * 0.006, `${shown}: ${rate}`);
  }

  // The file that waited most is the first bar.
  const shown = await hover(page, 0, 0, 0);
  const path = record.files[0].path;
  assert.ok(shown.includes(path.slice(path.lastIndexOf("/"))), shown);
  const links = await page.locator(".finding a").evaluateAll(links => links.map(link => link.hash.slice(1)));
  for (const target of links) assert.equal(await page.locator("tr#" + target).count(), 1);
  assert.equal(await overflow(page), 0);
});
