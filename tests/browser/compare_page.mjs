// The page of compare: the records over each other, each cell's throughput as the records hold it.

import assert from "node:assert/strict";
import {drawnPlots, hover, overflow, pageData, recordNamed, withPage} from "./page.mjs";

const before = recordNamed("run"), after = recordNamed("run");
after.started = "2027-01-01T00:00:00Z";
after.host.kernel = "7.0.0-<b>hostile";

await withPage([before, after], {}, async page => {
  const plots = await drawnPlots(page);
  assert.deepEqual([...new Set(plots.map(plot => plot.kind))].sort(), ["distribution", "intervals"]);
  for (const plot of plots) assert.ok(plot.coloured > 50, `${plot.kind} is blank`);

  const data = await pageData(page);
  const throughput = data.sections[0].blocks[0].plot;
  assert.deepEqual(throughput.series.map(series => series.name), ["A", "B"]);
  const medians = before.rows.map(row => row.untraced?.ops_per_ms.median);
  for (const [dataset, series] of throughput.series.entries())
    for (const [index, point] of series.points.filter(point => point).entries()) {
      assert.ok(medians.includes(point.value), `${point.value} is no row's`);
      const shown = await hover(page, 0, dataset, index);
      assert.ok(shown.includes(point.label), shown);
    }
  assert.match(await page.locator("#main").textContent(), /no difference proven/);
  assert.match(await page.locator("#foot").textContent(), /7\.0\.0-<b>hostile/);
  assert.doesNotMatch(await page.locator("body").innerText(), /\bnull\b|undefined/);
  assert.equal(await overflow(page), 0);
});
await withPage([before, after], {viewport: {width: 400, height: 800}, isMobile: true}, async page => {
  await drawnPlots(page);
  assert.equal(await overflow(page), 0);
});
