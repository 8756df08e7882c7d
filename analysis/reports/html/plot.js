"use strict";
// What all plots have in common: the canvas, its size, legend, views, axes, tooltip, and when it is drawn.
// plot_KIND(plot, view) in KIND.js returns Chart.js' configuration, and `legend`: [{name, style}].

const drawn = [];  // functions that draw a plot again

function plotElement(plot, title) {
  const canvas = element("canvas", {role: "img", ariaLabel: title + "; the numbers are in the table below"});
  const frame = element("div", {className: "plot"}, canvas);
  const legend = element("ul", {className: "legend"});
  const views = element("div", {className: "views"});
  const out = element("div", {}, views, frame, legend);
  let view = 0, chart = null;

  const draw = () => {
    if (chart) chart.destroy();
    const made = window["plot_" + plot.kind](plot, view);
    frame.style.height = made.height + "px";
    chart = new Chart(canvas, withDefaults(made));
    legend.replaceChildren(...made.legend.map((item, i) => legendItem(chart, item, i)));
    canvas.dataset.drawn = plot.kind;
  };
  const choose = chosen => {
    view = chosen;
    [...views.children].forEach((button, i) => button.setAttribute("aria-pressed", i === view));
    draw();
  };
  if (plot.views && plot.views.length > 1)
    plot.views.forEach((one, i) => {
      const button = element("button", {type: "button"}, one.name);
      button.setAttribute("aria-pressed", i === 0);
      button.addEventListener("click", () => choose(i));
      views.append(button);
    });

  // A full matrix has hundreds of plots: each is drawn as it comes near, all of them before printing.
  let waiting = true;
  const first = () => {
    if (waiting) draw();
    waiting = false;
  };
  new IntersectionObserver((entries, observer) => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    observer.disconnect();
    first();
  }, {rootMargin: "600px"}).observe(frame);
  drawn.push(anyway => waiting ? anyway && first() : draw());
  return out;
}

function legendItem(chart, item, index) {
  const mark = element("span", {className: "mark", ariaHidden: "true"}, item.glyph || markOf(item.style).glyph);
  mark.style.color = colourOf(item.style);
  const button = element("button", {type: "button", title: "show or hide"}, mark, item.name);
  button.setAttribute("aria-pressed", true);
  button.addEventListener("click", () => {
    const shown = !chart.isDatasetVisible(index);
    chart.setDatasetVisibility(index, shown);
    chart.update();
    button.setAttribute("aria-pressed", shown);
  });
  return element("li", {}, button);
}

function withDefaults(made) {
  const colours = palette();
  for (const scale of Object.values(made.options.scales)) {
    scale.grid = {color: colours.grid, borderColor: colours.grid, ...scale.grid};
    scale.ticks = {color: colours.quiet, font: {size: 11}, ...scale.ticks};
    if (scale.title) scale.title = {display: true, color: colours.quiet, font: {size: 11}, ...scale.title};
  }
  const options = made.options;
  options.animation = false;
  options.responsive = true;
  options.maintainAspectRatio = false;
  options.plugins = {
    ...options.plugins,
    legend: {display: false},
    tooltip: {
      backgroundColor: colours.text, titleColor: colours.paper, bodyColor: colours.paper, boxPadding: 4,
      ...options.plugins.tooltip,
    },
  };
  return made;
}

// 0.001 and 1500, never 1e-3 or 1,500.
function plainNumber(value) {
  return String(Number(value.toPrecision(6)));
}
// A logarithmic axis with few lines: decades, and 2 and 5 between them where there are not many.
function logAxis(title, text, limits) {
  return {
    type: "logarithmic", title: {text: title + " (log scale)"}, ...limits,
    afterBuildTicks: axis => {
      const dense = axis.max / axis.min < 150 && axis.chart.width > 500;
      axis.ticks = axis.ticks.filter(tick => {
        const digit = Number((tick.value / 10 ** Math.floor(Math.log10(tick.value) + 1e-9)).toPrecision(3));
        return digit === 1 || dense && (digit === 2 || digit === 5);
      });
    },
    ticks: {callback: value => text(value), autoSkip: false, maxRotation: 0},
  };
}

function drawAgain(anyway) {
  for (const draw of drawn) draw(anyway);
}
// Files are put together in any order: nothing of another one is used before the page is built.
function followLooks() {
  prefersDark.addEventListener("change", () => drawAgain(false));
  addEventListener("beforeprint", () => {
    printing = true;
    drawAgain(true);
  });
  addEventListener("afterprint", () => {
    printing = false;
    drawAgain(false);
  });
}
