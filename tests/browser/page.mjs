// What the tests have in common: a report made by iotrace, opened in Chromium from file://, and what can be
// asked of its plots.

import {execFileSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";

const {chromium} = createRequire(process.env.PLAYWRIGHT + "/")("playwright-core");
const here = dirname(fileURLToPath(import.meta.url));
export const iotrace = process.argv[2];

export function recordNamed(name) {
  return JSON.parse(readFileSync(join(here, "records", name + ".json"), "utf8"));
}

// The page of a record, or of several that are compared.
function makePage(folder, records) {
  const files = records.map((record, i) => join(folder, `record${i}.json`));
  records.forEach((record, i) => writeFileSync(files[i], JSON.stringify(record)));
  const page = join(folder, "page.html");
  if (files.length === 1) execFileSync(iotrace, ["report", files[0], "-o", page]);
  else writeFileSync(page, execFileSync(iotrace, ["compare", ...files, "--format", "html"]));
}

// Opens that page, and closes all of it when `use` is done. Whatever the page complains about, and whatever it
// asks a network for, fails the test.
export async function withPage(record, options, use) {
  const folder = mkdtempSync(join(tmpdir(), "iotrace-browser-"));
  const browser = await chromium.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox"]});
  try {
    makePage(folder, [record].flat());
    const page = await browser.newPage({viewport: {width: 1200, height: 900}, ...options});
    const complaints = [];
    page.on("console", message => complaints.push(message.text()));
    page.on("pageerror", error => complaints.push(String(error)));
    page.on("dialog", dialog => {
      complaints.push("dialog: " + dialog.message());
      dialog.dismiss();
    });
    page.on("request", request => {
      if (!/^(file|data|blob):/.test(request.url())) complaints.push("request: " + request.url());
    });
    await page.goto(pathToFileURL(join(folder, "page.html")).href);
    await use(page);
    if (complaints.length) throw new Error("the page complains: " + complaints.join("\n"));
  } finally {
    await browser.close();
    rmSync(folder, {recursive: true});
  }
}

export async function pageData(page) {
  return page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
}

// Scrolls through the page, so that every plot is drawn, and says of each what is on it.
export async function drawnPlots(page) {
  const canvases = page.locator("canvas");
  for (let i = 0; i < await canvases.count(); ++i) {
    await canvases.nth(i).scrollIntoViewIfNeeded();
    await page.waitForFunction(i => document.querySelectorAll("canvas")[i].dataset.drawn, i);
  }
  return page.evaluate(() => [...document.querySelectorAll("canvas")].map(canvas => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    // Pixels of a colour: text and grid are grey.
    let coloured = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      const [r, g, b, a] = pixels.slice(i, i + 4);
      if (a > 100 && Math.max(r, g, b) - Math.min(r, g, b) > 40) ++coloured;
    }
    return {kind: canvas.dataset.drawn, coloured, width: canvas.clientWidth, height: canvas.clientHeight};
  }));
}

// Moves the mouse onto a point of a plot; what the tooltip says then.
//   pick  function of the chart that runs in the page: [dataset, index]
export async function hover(page, canvasIndex, dataset, index) {
  const canvas = page.locator("canvas").nth(canvasIndex);
  await canvas.scrollIntoViewIfNeeded();
  const at = await canvas.evaluate((canvas, [dataset, index]) => {
    const {x, y} = Chart.getChart(canvas).getDatasetMeta(dataset).data[index].getProps(["x", "y"]);
    return {x, y};
  }, [dataset, index]);
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + at.x, box.y + at.y);
  await page.mouse.move(box.x + at.x + 0.5, box.y + at.y);
  return canvas.evaluate(canvas => {
    const tooltip = Chart.getChart(canvas).tooltip;
    return tooltip.opacity > 0 ? [...tooltip.title, ...tooltip.body.flatMap(part => part.lines)].join("\n") : "";
  });
}

// The width that the page needs beyond its window.
export async function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
