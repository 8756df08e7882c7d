// Light, dark, as wide as a phone, and on paper: every plot is drawn, nothing is wider than the window, and
// text stands out from the page. With a folder as second argument, leaves screenshots there.

import assert from "node:assert/strict";
import {join} from "node:path";
import {drawnPlots, overflow, recordNamed, withPage} from "./page.mjs";

const folder = process.argv[3];

function brightness(colour) {
  const [r, g, b] = colour.match(/\d+/g).map(Number);
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
}

const looks = {
  light: {colorScheme: "light"},
  dark: {colorScheme: "dark"},
  phone: {colorScheme: "light", viewport: {width: 400, height: 800}, isMobile: true},
};
for (const name of ["run", "attach"])
  for (const [look, options] of Object.entries(looks))
    await withPage(recordNamed(name), options, async page => {
      const plots = await drawnPlots(page);
      assert.ok(plots.length >= 5);
      for (const plot of plots) {
        assert.ok(plot.coloured > 50, `${name} ${look}: ${plot.kind} is blank`);
        assert.ok(plot.width > 250 && plot.width <= options.viewport?.width || plot.width > 600, `${look}: ${plot.width}`);
      }
      assert.equal(await overflow(page), 0, `${name} ${look} is too wide`);
      const [paper, text] = (await page.evaluate(() => {
        const style = getComputedStyle(document.body);
        return [style.backgroundColor, style.color];
      })).map(brightness);
      if (look === "dark") assert.ok(paper < 0.15 && text > 0.8);
      else assert.ok(paper > 0.95 && text < 0.25);
      if (folder) {
        await page.evaluate(() => scrollTo(0, 0));
        await page.screenshot({path: join(folder, `${name}-${look}.png`), fullPage: true});
      }
    });

// Who changes the theme while the page is open sees the other colours, and paper is white.
await withPage(recordNamed("run"), {colorScheme: "dark"}, async page => {
  await drawnPlots(page);
  const first = () => page.locator("canvas").first().evaluate(canvas => Chart.getChart(canvas).data.datasets[0].borderColor);
  // The page hears of it after the call has returned; one that never does lets the wait fail.
  const changed = before => page.waitForFunction(
      before => Chart.getChart(document.querySelector("canvas")).data.datasets[0].borderColor !== before, before);
  const dark = await first();
  await page.emulateMedia({colorScheme: "light"});
  await changed(dark);
  const light = await first();
  await page.emulateMedia({colorScheme: "dark"});
  await changed(light);
  assert.equal(await first(), dark);
  const paper = await page.pdf(folder ? {path: join(folder, "run.pdf"), format: "A4"} : {format: "A4"});
  assert.ok(paper.length > 20000);
});

// Printed before it was scrolled through: every plot is there.
await withPage(recordNamed("run"), {}, async page => {
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator("canvas:not([data-drawn])").count(), 0);
});
