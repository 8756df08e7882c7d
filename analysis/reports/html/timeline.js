"use strict";
// Rates over the seconds of a watch.

function plot_timeline(plot) {
  const datasets = plot.series.map(series => ({
    label: series.name,
    data: series.values.map((y, i) => ({x: plot.x[i], y})),
    borderColor: colourOf(series.style),
    backgroundColor: colourOf(series.style),
    borderWidth: 2,
    clip: 8,
    pointStyle: markOf(series.style).point,
    pointRadius: plot.x.length > 60 ? 0 : 3,
    pointHoverRadius: 6,
  }));
  return {
    type: "line",
    height: 220,
    legend: plot.series.map(series => ({name: series.name, style: series.style})),
    data: {datasets},
    options: {
      interaction: {mode: "nearest", intersect: false, axis: "xy"},
      scales: {
        x: {type: "linear", min: 0, max: plot.x[plot.x.length - 1], title: {text: "s since the watch began"},
          ticks: {callback: plainNumber, maxRotation: 0, includeBounds: false}},
        y: {min: 0, title: {text: plot.unit}, ticks: {callback: plainNumber}},
      },
      plugins: {tooltip: {callbacks: {
        title: items => items.map(item => `until ${plainNumber(item.parsed.x)} s`),
        label: item => `${item.dataset.label}: ${plot.series[item.datasetIndex].labels[item.dataIndex]}`,
      }}},
    },
  };
}
