"use strict";
// A bar a line, of parts one after the other; a part that is an interval [from, to] stands where it is.

function plot_bars(plot) {
  const lineHeight = 24;
  const labels = narrowed(plot.names);
  const datasets = plot.parts.map(part => ({
    label: part.name,
    data: part.values,
    backgroundColor: colourOf(part.style),
    borderColor: palette().paper,
    borderWidth: {right: 1},
    // A ratio is more than 1, or less.
    base: plot.log ? 1 : undefined,
    // A narrow interval is still seen.
    minBarLength: part.values.some(Array.isArray) ? 3 : 0,
    maxBarThickness: 18,
  }));
  // Shares end at 100, not at the next round number behind the last digit of their sum.
  const whole = plot.unit.startsWith("%") && sums(plot).every(sum => sum < 100.5);
  return {
    type: "bar",
    height: 64 + lineHeight * plot.names.length,
    legend: plot.parts.length > 1 ? plot.parts.map(part => ({name: part.name, style: part.style, glyph: "■"})) : [],
    data: {labels, datasets},
    options: {
      indexAxis: "y",
      interaction: {mode: "nearest", intersect: false, axis: "xy"},
      scales: {
        x: plot.log
          ? logAxis(plot.unit, plainNumber, {})
          : {stacked: true, min: 0, max: whole ? 100 : undefined, title: {text: plot.unit},
            ticks: {maxRotation: 0, callback: plainNumber}},
        y: {stacked: !plot.log, grid: {display: false}, ticks: {autoSkip: false, color: palette().text}},
      },
      plugins: {tooltip: {callbacks: {
        title: items => items.map(item => plot.names[item.dataIndex]),
        label: item => `${item.dataset.label}: ${plot.parts[item.datasetIndex].labels[item.dataIndex]}`,
      }}},
    },
  };
}

function sums(plot) {
  return plot.names.map((_, line) => plot.parts.reduce((sum, part) => {
    const value = part.values[line];
    return sum + (Array.isArray(value) ? value[1] : value ?? 0);
  }, 0));
}

// Names leave the bars room: their ends tell them apart.
function narrowed(names) {
  const most = Math.max(18, Math.floor(innerWidth / 22));
  return names.map(name => name.length > most ? "…" + name.slice(1 - most) : name);
}
