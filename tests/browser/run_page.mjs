// The page of a run: each plot drawn, hovering shows what the record holds, findings lead to their rows.

import assert from "node:assert/strict";
import {drawnPlots, hover, overflow, pageData, recordNamed, withPage} from "./page.mjs";

const record = recordNamed("run");

// As the program prints numbers: three significant digits.
function threeDigits(value) {
  return value >= 1000 ? value.toFixed(0) : Number(value).toPrecision(3);
}

await withPage(record, {}, async page => {
  const plots = await drawnPlots(page);
  const kinds = new Set(plots.map(plot => plot.kind));
  assert.deepEqual([...kinds].sort(), ["bars", "distribution", "intervals"]);
  for (const plot of plots) assert.ok(plot.coloured > 50, `${plot.kind} is blank: ${JSON.stringify(plot)}`);

  // Throughput: every point of the first plot.
  const data = await pageData(page);
  const throughput = data.sections[0].blocks[0].plot;
  let points = 0;
  for (const [dataset, series] of throughput.series.entries())
    for (const [index, point] of series.points.filter(point => point).entries()) {
      const row = record.rows[Number(point.target.slice("row-".length))];
      const estimate = (row.untraced ?? row.traced).ops_per_ms;
      const shown = await hover(page, 0, dataset, index);
      assert.ok(shown.startsWith(series.name), shown);
      assert.ok(shown.includes(threeDigits(estimate.median)), `${shown} hides ${estimate.median}`);
      if (estimate.low !== null) assert.match(shown, /\[[0-9.]+-[0-9.]+\] ops\/ms/);
      ++points;
    }
  assert.ok(points >= 2);

  // Latency: the counts that hovering shows are the record's.
  const at = plots.findIndex(plot => plot.kind === "distribution");
  const shown = await hover(page, at, 0, 2);
  const total = Number(/of (\d+)\)$/.exec(shown)[1]);
  assert.ok(record.rows.some(row => row.untraced?.lat_ns.N === total), shown);

  // Findings lead to rows that are there, and seen.
  const links = page.locator(".finding a");
  assert.ok(await links.count() > 0);
  for (const target of await links.evaluateAll(links => links.map(link => link.hash.slice(1))))
    assert.equal(await page.locator("tr#" + target).count(), 1);
  await links.first().click();
  assert.ok(await page.locator("tr:target").isVisible());

  // A legend's entry takes its series away.
  await page.locator(".legend button").first().click();
  assert.equal(await page.locator("canvas").first().evaluate(canvas => Chart.getChart(canvas).isDatasetVisible(0)), false);

  assert.equal(await overflow(page), 0);
});
