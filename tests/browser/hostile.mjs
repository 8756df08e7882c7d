// Names that would be markup or script elsewhere are text here, and everything is drawn all the same.

import assert from "node:assert/strict";
import {drawnPlots, recordNamed, withPage} from "./page.mjs";

const hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{record}}__proto__";

const run = recordNamed("run");
run.file.path = hostile;
for (const row of run.rows) row.strategy += hostile;
for (const finding of run.findings) finding.text = finding.remedy = finding.source = finding.id = hostile;

const attach = recordNamed("attach");
for (const file of attach.files) file.path += hostile;
for (const thread of attach.threads) thread.name = hostile;
attach.target.asked = hostile;

for (const record of [run, attach])
  await withPage(record, {}, async page => {
    const plots = await drawnPlots(page);
    assert.ok(plots.length >= 5);
    for (const plot of plots) assert.ok(plot.coloured > 50, `${plot.kind} is blank`);
    assert.equal(await page.locator("script").count(), 4);
    assert.equal(await page.locator("img").count(), 0);
    assert.ok((await page.locator("body").innerText()).includes("</script><script>alert(1)"));
    assert.ok((await page.title()).includes("</script><script>alert(1)"));
  });
